/** Service: what was answered, and how much of it inside its SLO, over time. */
import { MARGIN, XAxis, YAxis, ticks, timeTicks, useCursor, useWidth } from "./axes";
import { attainment, compact, count, percent, words } from "./format";
import { bucketStart, when } from "./load";
import { Fact, Figure, PlainTable, Section } from "./parts";
import type { Report } from "./report";

const FLOORS = [0.99, 0.98, 0.95, 0.9, 0.8, 0.6, 0];

function Attainment({ report, targets }: { report: Report; targets: number[] }) {
  const { series } = report;
  const { ref, width } = useWidth();
  const n = series.served.length;
  const shares = series.served.map((served, i) => (served > 0 ? (series.slo_met[i] ?? 0) / served : null));
  const lowest = Math.min(1, ...shares.map((s) => s ?? 1), ...targets);
  const floor = FLOORS.find((f) => f < lowest - 1e-12 || f === 0) ?? 0;
  const height = 220;
  const left = MARGIN.left, right = width - MARGIN.right, top = MARGIN.top, bottom = height - MARGIN.bottom;
  const x = (i: number) => left + ((right - left) * i) / Math.max(1, n);
  const y = (share: number) => bottom - ((bottom - top) * (share - floor)) / (1 - floor);
  const { at, handlers } = useCursor(n, left, right);
  const start = Date.parse(series.start) / 1000, end = start + n * series.bucket_seconds;
  let line = "", missed = "";
  shares.forEach((share, i) => {
    if (share === null) return;
    const joined = i > 0 && shares[i - 1] !== null;
    line += `${joined ? "L" : "M"}${x(i).toFixed(1)} ${y(share).toFixed(1)}L${x(i + 1).toFixed(1)} ${y(share).toFixed(1)}`;
    if (share < 1) missed += `M${x(i).toFixed(1)} ${top}H${x(i + 1).toFixed(1)}V${y(share).toFixed(1)}H${x(i).toFixed(1)}Z`;
  });
  return (
    <div class="chart" ref={ref}>
      {width > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} role="img" {...handlers} aria-label={`SLO attainment over time: lowest ${attainment(Math.min(...shares.map((s) => s ?? 1)))} of served requests in one interval`}>
          <YAxis values={ticks(floor, 1, 5)} y={y} left={left} right={right} format={(share) => percent(share, floor >= 0.98 ? 1 : 0)} />
          <path d={missed} class="missed" />
          <path d={line} class="attained" />
          {targets.map((target) => (
            <g key={target} class="mark">
              <line x1={left} x2={right} y1={y(target)} y2={y(target)} />
              <text x={right} y={y(target) + 14} text-anchor="end">
                target {percent(target, Number.isInteger(target * 100) ? 0 : 1)}
              </text>
            </g>
          ))}
          <line x1={left} x2={right} y1={bottom} y2={bottom} class="base" />
          <XAxis labels={timeTicks(start, end, right - left).map((t) => ({ x: left + ((t.at - start) / (end - start)) * (right - left), label: t.label }))} bottom={bottom} right={right} />
          {at !== null && <rect class="cursor" x={x(at)} width={Math.max(1, x(at + 1) - x(at))} y={top} height={bottom - top} />}
        </svg>
      )}
      <p class="readout" aria-live="polite">
        {at === null ? (
          <span>The shaded part is served outside its SLO.</span>
        ) : (
          <>
            <b>{when(bucketStart(series, at))} UTC:</b> {attainment(shares[at])} of {count(series.served[at] ?? 0)} served
            {series.not_served[at] ? `, ${count(series.not_served[at] ?? 0)} not served` : ""}
          </>
        )}
      </p>
    </div>
  );
}

export function Service({ report }: { report: Report }) {
  const { service, goodput, series } = report;
  const targets = [...new Set((report.slo_classes ?? []).map((slo) => slo.target_share))].sort().reverse();
  return (
    <Section id="service" title="Service" lead="A saving that breaks its promise is no saving: what was answered, and inside its limits.">
      <dl class="facts">
        <Fact name="Served" note={`${count(service.served)} of ${count(service.requests)} requests`}>
          {attainment(service.served_share)}
        </Fact>
        <Fact name="SLO met" note={`${count(service.slo_met)} of the served met every limit of their class`}>
          {attainment(service.slo_share)}
        </Fact>
        <Fact name="Goodput" note="output tokens inside SLO per fully loaded dollar">
          {goodput.tokens_per_fully_loaded_usd === null ? "n/a" : compact(goodput.tokens_per_fully_loaded_usd)}
        </Fact>
        <Fact name="Per avoidable dollar" note="the same, per dollar that a decision could still avoid">
          {goodput.tokens_per_avoidable_usd === null ? "n/a" : compact(goodput.tokens_per_avoidable_usd)}
        </Fact>
      </dl>
      {series.served.length > 0 && (
        <Figure
          title="SLO attainment over time"
          note="Share of served requests that met every limit of their class. Times are UTC."
          table={() => (
            <PlainTable
              caption="SLO attainment over time"
              head={["From (UTC)", "Arrived", "Served", "SLO met", "Attainment", "Not served"]}
              rows={series.served.map((served, i) => [
                when(bucketStart(series, i)),
                count(series.arrived[i] ?? 0),
                count(served),
                count(series.slo_met[i] ?? 0),
                attainment(served > 0 ? (series.slo_met[i] ?? 0) / served : null),
                count(series.not_served[i] ?? 0),
              ])}
            />
          )}
        >
          <Attainment report={report} targets={targets} />
        </Figure>
      )}
      <dl class="line">
        {service.not_served.map((refusal) => (
          <div key={refusal.verdict}>
            <dt>not served, {words(refusal.verdict)}</dt>
            <dd>{count(refusal.requests)}</dd>
          </div>
        ))}
        {([
          ["spilled", service.spilled], ["retried", service.retried], ["evictions", service.evictions], ["unit changes", service.unit_changes],
          ["cache answers", service.cache_hits], ["client aborts", service.client_aborts], ["input tokens, not cached", service.input_tokens],
          ["input tokens, cached", service.cached_tokens], ["output tokens", service.output_tokens],
          ["goodput tokens", service.goodput_tokens], ["peak tokens per minute that all-payg assumes", service.peak_tokens_per_minute],
        ] as const).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
