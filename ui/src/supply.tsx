/** Merit order: what the next million tokens cost, destination after destination, at a given load. */
import { useState } from "preact/hooks";
import { MARGIN, XAxis, YAxis, ticks, useCursor, useWidth } from "./axes";
import { compact, price } from "./format";
import { Figure, Legend, PlainTable, Section, TierDot } from "./parts";
import { TIERS, TIER_LABEL, type Report, type SupplyCurve, type SupplyStep } from "./report";

interface Placed extends SupplyStep {
  from: number;
  to: number;
  key: string;
}

/** How far to the right a model's charts are worth drawing: past its loads and past what is paid for anyway. */
function reach(curves: SupplyCurve[]): number {
  const committed = (curve: SupplyCurve) => curve.steps.reduce((sum, step) => (step.tier === "payg" ? sum : sum + (step.tokens_per_s ?? 0)), 0);
  const widest = (curve: SupplyCurve) => Math.max(0, ...curve.steps.map((step) => step.tokens_per_s ?? 0));
  const far = Math.max(...curves.map((curve) => Math.max(curve.load_tokens_per_s * 1.4, committed(curve) * 1.2)));
  return far > 0 ? far : Math.max(1, ...curves.map(widest));
}

/** Steps side by side; those without a limit, and those out of reach, are stubs that show there is more. */
function place(curve: SupplyCurve, far: number): Placed[] {
  const stub = far * 0.1;
  let at = 0;
  return curve.steps.map((step, i) => {
    const left = Math.max(stub, far - at);
    const placed = { ...step, from: at, to: at + Math.min(step.tokens_per_s ?? left, left), key: `${i}` };
    at = placed.to;
    return placed;
  });
}

const room = (tokens: number | null) => (tokens === null ? "no limit" : `${compact(tokens)} tok/s`);

function StepChart({ curve, far }: { curve: SupplyCurve; far: number }) {
  const { ref, width } = useWidth();
  const steps = place(curve, far);
  const height = 270;
  const left = MARGIN.left, right = width - MARGIN.right, top = 26, bottom = height - MARGIN.bottom;
  const end = steps[steps.length - 1]?.to ?? 1;
  const prices = steps.map((step) => step.usd_per_mtok);
  const tops = steps.filter((step) => !step.beyond_knee).map((step) => step.usd_per_mtok);
  const roof = Math.max(1e-9, ...tops, Math.min(Math.max(...prices), Math.max(0, ...tops) * 1.6)) * 1.12;  // past a knee the price may leave the picture
  const floor = Math.min(0, ...prices);
  const x = (value: number) => left + ((right - left) * value) / end;
  const y = (value: number) => bottom - ((bottom - top) * (value - floor)) / (roof - floor);
  const { at, handlers } = useCursor(steps.length, left, right);
  const load = Math.min(curve.load_tokens_per_s, end);
  const seen = at === null ? undefined : steps[at];
  const label =
    `Merit order of ${curve.model} at ${curve.at} load of ${compact(curve.load_tokens_per_s)} tokens per second: ` +
    steps.map((step) => `${step.destination}${step.beyond_knee ? " past its knee" : ""} at ${price(step.usd_per_mtok)} per million tokens`).join(", ");
  return (
    <div class="chart" ref={ref}>
      {width > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} {...handlers}>
          <YAxis values={ticks(floor, roof)} y={y} left={left} right={right} format={(v) => (roof < 10 ? `$${v.toFixed(roof < 0.2 ? 3 : 2)}` : `$${compact(v)}`)} />
          {steps.map((step) => {
            const ground = y(0), edge = Math.max(top, Math.min(y(step.usd_per_mtok), ground - 2));
            const wide = x(step.to) - x(step.from);
            return (
              <g key={step.key} class={`step t-${step.tier}`}>
                <rect x={x(step.from)} width={Math.max(1, wide)} y={edge} height={ground - edge} class={step.beyond_knee ? "past-knee" : "below-knee"} />
                <line x1={x(step.from)} x2={x(step.to)} y1={edge} y2={edge} class={step.beyond_knee ? "price past" : "price"} />
                {!step.beyond_knee && wide > step.destination.length * 6.6 + 10 && (
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
            <b>{seen.destination}</b> {TIER_LABEL[seen.tier]}
            {seen.beyond_knee ? ", past its knee" : ""}, {price(seen.usd_per_mtok)} per Mtok, {room(seen.tokens_per_s)}
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
            note={curve.price_usd_per_mtok !== null ? <>Here the next million tokens cost <b>{price(curve.price_usd_per_mtok)}</b>.</> : "Nothing has room for the next token at this load."}
            legend={<Legend tiers={tiers} />}
            table={() => (
              <PlainTable
                caption={`Supply curve of ${curve.model} at ${curve.at} load`}
                words={[1, 2, 3]}
                head={["Destination", "Model", "Tier", "Part", "Per Mtok", "Width", "Knee", "Cap", "Up to"]}
                rows={curve.steps.map((step) => [
                  step.destination,
                  step.model,
                  <TierDot tier={step.tier} />,
                  step.beyond_knee ? "past the knee" : "to the knee",
                  price(step.usd_per_mtok),
                  room(step.tokens_per_s),
                  room(step.knee_tokens_per_s),
                  room(step.cap_tokens_per_s),
                  room(step.cumulative_tokens_per_s),
                ])}
              />
            )}
          >
            <StepChart curve={curve} far={reach(shown)} />
          </Figure>
        ))}
      </div>
    </Section>
  );
}
