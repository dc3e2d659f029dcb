/** Merit order: what the next million tokens cost, destination after destination, at a given load. */
import { useState } from "preact/hooks";
import { MARGIN, XAxis, YAxis, ticks, useCursor, useWidth } from "./axes";
import { compact } from "./format";
import { Figure, Legend, PlainTable, Section, TierDot } from "./parts";
import { TIERS, TIER_LABEL, type Report, type SupplyCurve, type SupplyStep } from "./report";

interface Placed extends SupplyStep {
  from: number;
  knee: number;
  to: number;
  price: number;
  open: boolean;
}

/** Steps side by side. What has no limit gets a width that shows it goes on. */
function place(curve: SupplyCurve): Placed[] {
  const limit = (step: SupplyStep) => step.cap_tokens_per_s ?? Infinity;
  const closed = curve.steps.map(limit).filter((cap) => cap <= curve.load_tokens_per_s * 20 || cap === 0);
  const end = Math.max(curve.load_tokens_per_s * 1.25, closed.reduce((a, b) => a + b, 0) * 1.15, 1);
  const opened = curve.steps.length - closed.length;
  const room = Math.max(end - closed.reduce((a, b) => a + b, 0), end * 0.12 * opened);
  let at = 0;
  return curve.steps.map((step) => {
    const open = !closed.includes(limit(step));
    const width = open ? room / Math.max(1, opened) : limit(step);
    const knee = open ? width : Math.min(width, step.knee_tokens_per_s ?? width);
    const placed = { ...step, from: at, knee: at + knee, to: at + width, price: Number(step.usd_per_mtok), open };
    at += width;
    return placed;
  });
}

function StepChart({ curve }: { curve: SupplyCurve }) {
  const { ref, width } = useWidth();
  const steps = place(curve);
  const height = 270;
  const left = MARGIN.left, right = width - MARGIN.right, top = 26, bottom = height - MARGIN.bottom;
  const end = steps[steps.length - 1]?.to ?? 1;
  const prices = steps.map((step) => step.price);
  const roof = Math.max(1e-9, ...prices) * 1.12;
  const floor = Math.min(0, ...prices);
  const x = (value: number) => left + ((right - left) * value) / end;
  const y = (value: number) => bottom - ((bottom - top) * (value - floor)) / (roof - floor);
  const { at, handlers } = useCursor(steps.length, left, right);
  const load = Math.min(curve.load_tokens_per_s, end);
  const seen = at === null ? undefined : steps[at];
  const label =
    `Merit order of ${curve.model} at ${curve.at} load of ${compact(curve.load_tokens_per_s)} tokens per second: ` +
    steps.map((step) => `${step.destination} at ${step.usd_per_mtok} USD per million tokens`).join(", ");
  return (
    <div class="chart" ref={ref}>
      {width > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} {...handlers}>
          <YAxis values={ticks(floor, roof)} y={y} left={left} right={right} format={(v) => (roof < 10 ? `$${v.toFixed(roof < 0.2 ? 3 : 2)}` : `$${compact(v)}`)} />
          {steps.map((step) => {
            const ground = y(0), edge = Math.min(y(step.price), ground - 2);
            return (
              <g key={step.destination} class={`step t-${step.tier}`}>
                <rect x={x(step.from)} width={Math.max(1, x(step.knee) - x(step.from))} y={edge} height={ground - edge} class="below-knee" />
                {step.to > step.knee && <rect x={x(step.knee)} width={x(step.to) - x(step.knee)} y={edge} height={ground - edge} class="past-knee" />}
                <line x1={x(step.from)} x2={x(step.to)} y1={edge} y2={edge} class="price" />
                {x(step.to) - x(step.from) > step.destination.length * 6.6 + 10 && (
                  <text x={x(step.from) + 5} y={edge - 6}>
                    {step.destination}
                  </text>
                )}
              </g>
            );
          })}
          <line x1={left} x2={right} y1={y(0)} y2={y(0)} class="base" />
          <XAxis labels={ticks(0, end, width < 420 ? 3 : 5).map((v) => ({ x: x(v), label: compact(v) }))} bottom={bottom} right={right} />
          <g class="mark">
            <line x1={x(load)} x2={x(load)} y1={top - 8} y2={bottom} />
            <text x={x(load) > (left + right) / 2 ? x(load) - 6 : x(load) + 6} y={top - 12} text-anchor={x(load) > (left + right) / 2 ? "end" : "start"}>
              load {compact(curve.load_tokens_per_s)} tok/s
            </text>
          </g>
          {seen && <rect class="cursor" x={x(seen.from)} width={Math.max(1, x(seen.to) - x(seen.from))} y={top} height={bottom - top} />}
        </svg>
      )}
      <p class="readout" aria-live="polite">
        {seen ? (
          <>
            <b>{seen.destination}</b> {TIER_LABEL[seen.tier]}, ${seen.usd_per_mtok} per Mtok
            {seen.open ? ", no limit in sight" : `, knee ${compact(seen.knee_tokens_per_s ?? 0)}, cap ${compact(seen.cap_tokens_per_s ?? 0)} tok/s`}
          </>
        ) : (
          <span>Width is capacity in tokens per second, height the price of the next million tokens; pale is past the knee.</span>
        )}
      </p>
    </div>
  );
}

export function MeritOrder({ report }: { report: Report }) {
  const curves = report.supply_curves ?? [];
  const models = [...new Set(curves.map((curve) => curve.model))];
  const busiest = [...curves].sort((a, b) => b.load_tokens_per_s - a.load_tokens_per_s)[0]?.model ?? "";
  const [model, setModel] = useState(busiest);
  if (!curves.length) return null;
  const shown = curves.filter((curve) => curve.model === model);
  const tiers = TIERS.filter((tier) => shown.some((curve) => curve.steps.some((step) => step.tier === tier)));
  return (
    <Section id="merit" title="Merit order" lead="Cheapest first: who serves the next token, and at what effective marginal price, when load is typical and when it is high.">
      {models.length > 1 && (
        <p class="pick">
          <label>
            Model{" "}
            <select value={model} onChange={(event) => setModel(event.currentTarget.value)}>
              {models.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </p>
      )}
      <div class="pair">
        {shown.map((curve) => (
          <Figure
            key={`${curve.model} ${curve.at}`}
            title={`${curve.model} at ${curve.at} load`}
            note={curve.price_usd_per_mtok !== null ? <>The next million tokens cost <b>${curve.price_usd_per_mtok}</b>.</> : "Nothing serves the next token at this load."}
            legend={<Legend tiers={tiers} />}
            table={() => (
              <PlainTable
                caption={`Supply curve of ${curve.model} at ${curve.at} load`}
                words={[1]}
                head={["Destination", "Tier", "USD per Mtok", "Knee, tok/s", "Cap, tok/s"]}
                rows={curve.steps.map((step) => [
                  step.destination,
                  <TierDot tier={step.tier} />,
                  step.usd_per_mtok,
                  step.knee_tokens_per_s === null ? "none" : compact(step.knee_tokens_per_s),
                  step.cap_tokens_per_s === null ? "none" : compact(step.cap_tokens_per_s),
                ])}
              />
            )}
          >
            <StepChart curve={curve} />
          </Figure>
        ))}
      </div>
    </Section>
  );
}
