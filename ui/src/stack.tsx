/** A stack of tiers over equal slots: hours of a window, or hours in order of load. */
import type { ComponentChildren } from "preact";
import { MARGIN, XAxis, YAxis, ticks, useCursor, useWidth } from "./axes";
import { compact } from "./format";
import { TIER_LABEL, type Tier } from "./report";

export interface Layer {
  tier: Tier;
  values: number[];
}

export function Stack(props: {
  label: string;
  unit: string;
  layers: Layer[];
  xLabels: (width: number) => { at: number; label: string }[];  // `at` as a share of the width
  slot: (index: number) => string;
  mark?: { value: number; label: string; short: string } | undefined;
}) {
  const { layers, mark } = props;
  const { ref, width } = useWidth();
  const height = width < 520 ? 230 : 290;
  const n = layers[0]?.values.length ?? 0;
  const left = MARGIN.left, right = width - MARGIN.right, top = MARGIN.top, bottom = height - MARGIN.bottom;
  const totals = Array.from({ length: n }, (_, i) => layers.reduce((sum, layer) => sum + (layer.values[i] ?? 0), 0));
  const highest = Math.max(1e-9, ...totals, mark?.value ?? 0);
  const roof = highest * 1.06;
  const x = (i: number) => left + ((right - left) * i) / Math.max(1, n);
  const y = (value: number) => bottom - ((bottom - top) * value) / roof;
  const { at, handlers } = useCursor(n, left, right);

  const below = new Array<number>(n).fill(0);
  const areas = layers.map((layer) => {
    const floor = [...below];
    layer.values.forEach((value, i) => (below[i] = (below[i] ?? 0) + value));
    return { tier: layer.tier, path: step(floor, below, x, y) };
  });
  const readout: ComponentChildren =
    at === null ? (
      <span>Point at the chart to read it, or use the arrow keys.</span>
    ) : (
      <>
        <b>{props.slot(at)}</b> {compact(totals[at] ?? 0)} {props.unit}
        {layers.map((layer) => (
          <span key={layer.tier} class="reading">
            <i class={`dot t-${layer.tier}`} aria-hidden="true" />
            {TIER_LABEL[layer.tier]} {compact(layer.values[at] ?? 0)}
          </span>
        ))}
      </>
    );
  return (
    <div class="chart" ref={ref}>
      {width > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={props.label} {...handlers}>
          <YAxis values={ticks(0, roof)} y={y} left={left} right={right} format={compact} />
          {areas.map((area) => (
            <path key={area.tier} d={area.path} class={`area t-${area.tier}`} stroke-width={(right - left) / n < 3 ? 0 : 0.6} />
          ))}
          <line x1={left} x2={right} y1={bottom} y2={bottom} class="base" />
          <XAxis labels={props.xLabels(right - left).map((t) => ({ x: left + t.at * (right - left), label: t.label }))} bottom={bottom} right={right} />
          {mark && (
            <g class="mark">
              <line x1={left} x2={right} y1={y(mark.value)} y2={y(mark.value)} />
              <text x={right} y={y(mark.value) - 6} text-anchor="end">
                {width < 520 ? mark.short : mark.label}
              </text>
            </g>
          )}
          {at !== null && <rect class="cursor" x={x(at)} width={Math.max(1, x(at + 1) - x(at))} y={top} height={bottom - top} />}
        </svg>
      )}
      <p class="readout" aria-live="polite">
        {readout}
      </p>
    </div>
  );
}

/** The outline of one layer; slots are flat, since each is an average. */
function step(low: number[], high: number[], x: (i: number) => number, y: (value: number) => number): string {
  const point = (px: number, py: number) => `${px.toFixed(1)} ${py.toFixed(1)}`;
  let path = "";
  high.forEach((value, i) => (path += `${i ? "L" : "M"}${point(x(i), y(value))}L${point(x(i + 1), y(value))}`));
  for (let i = low.length - 1; i >= 0; --i) path += `L${point(x(i + 1), y(low[i] ?? 0))}L${point(x(i), y(low[i] ?? 0))}`;
  return path ? path + "Z" : "";
}
