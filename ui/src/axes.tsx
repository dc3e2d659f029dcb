/** What the drawn charts share: their width, round ticks, a readout that follows pointer and arrow keys. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { clock, day } from "./format";

export const MARGIN = { top: 14, right: 10, bottom: 26, left: 54 };

/** The width an element has, in CSS pixels, so that text in a chart is drawn at its own size. */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    const measure = () => setWidth(Math.max(240, Math.floor(box.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

/** Round values from 0 (or `from`) to at least `to`. */
export function ticks(from: number, to: number, wanted = 4): number[] {
  const span = to - from;
  if (!(span > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => span / s <= wanted + 0.5) ?? power * 10;
  const values: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to * (1 + 1e-9) + 1e-12; ++k) values.push(k * step);
  return values;
}

const TIME_STEPS = [60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 345600, 604800, 1209600, 2592000];

/** Times worth a label between two instants, in seconds since 1970, at most one for every `room` pixels. */
export function timeTicks(from: number, to: number, width: number, room = 90): { at: number; label: string }[] {
  const wanted = Math.max(2, Math.floor(width / room));
  const step = TIME_STEPS.find((s) => (to - from) / s <= wanted) ?? TIME_STEPS[TIME_STEPS.length - 1]!;
  const labels: { at: number; label: string }[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const when = new Date(at * 1000);
    labels.push({ at, label: step >= 86400 || clock(when) === "00:00" ? day(when) : clock(when) });
  }
  return labels;
}

export function YAxis({ values, y, left, right, format }: {
  values: number[];
  y: (value: number) => number;
  left: number;
  right: number;
  format: (value: number) => string;
}) {
  return (
    <g class="axis">
      {values.map((value) => (
        <g key={value}>
          <line x1={left} x2={right} y1={y(value)} y2={y(value)} class={value === 0 ? "base" : "grid"} />
          <text x={left - 8} y={y(value)} dy="0.32em" text-anchor="end">
            {format(value)}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Labels under the axis; those that would leave the picture are turned inwards. */
export function XAxis({ labels, bottom, right }: { labels: { x: number; label: string }[]; bottom: number; right: number }) {
  return (
    <g class="axis">
      {labels.map(({ x, label }) => (
        <g key={x}>
          <line x1={x} x2={x} y1={bottom} y2={bottom + 4} class="base" />
          <text x={Math.min(x, right)} y={bottom + 17} text-anchor={x > right - 24 ? "end" : x < MARGIN.left + 12 ? "start" : "middle"}>
            {label}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Which of n slots the reader looks at: by pointer, or by arrow keys once the chart has focus. */
export function useCursor(n: number, left: number, right: number) {
  const [at, setAt] = useState<number | null>(null);
  const clamp = (i: number) => Math.max(0, Math.min(n - 1, i));
  const handlers = {
    tabIndex: 0,
    onPointerMove: (event: JSX.TargetedPointerEvent<SVGSVGElement>) => {
      const box = event.currentTarget.getBoundingClientRect();
      const scale = box.width / event.currentTarget.viewBox.baseVal.width;
      const x = (event.clientX - box.left) / scale;
      setAt(n ? clamp(Math.floor(((x - left) / (right - left)) * n)) : null);
    },
    onPointerLeave: () => setAt(null),
    onBlur: () => setAt(null),
    onKeyDown: (event: JSX.TargetedKeyboardEvent<SVGSVGElement>) => {
      const step = event.shiftKey ? Math.max(1, Math.round(n / 20)) : 1;
      const next = { ArrowLeft: (at ?? n) - step, ArrowRight: (at ?? -1) + step, Home: 0, End: n - 1 }[event.key];
      if (event.key === "Escape") setAt(null);
      if (next === undefined || !n) return;
      event.preventDefault();
      setAt(clamp(next));
    },
  };
  return { at, handlers };
}
