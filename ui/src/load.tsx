/** Who carried the load: over time, and in order of load. */
import { timeTicks } from "./axes";
import { clock, compact, day, duration, percent } from "./format";
import { Figure, Legend, PlainTable, Section } from "./parts";
import { TIERS, TIER_LABEL, type Report, type Series, type Tier } from "./report";
import { Stack, type Layer } from "./stack";

/** Tokens per second by tier, one value for each bucket. */
export function tierRates(series: Series): Layer[] {
  const layers: Layer[] = [];
  for (const tier of TIERS) {
    const members = series.tiers.flatMap((t, d) => (t === tier ? [series.tokens[d] ?? []] : []));
    if (!members.some((tokens) => tokens.some((t) => t !== 0))) continue;
    layers.push({ tier, values: series.arrived.map((_, i) => members.reduce((sum, t) => sum + (t[i] ?? 0), 0) / series.bucket_seconds) });
  }
  return layers;
}

export const bucketStart = (series: Series, i: number): Date => new Date(Date.parse(series.start) + i * series.bucket_seconds * 1000);
export const when = (at: Date): string => `${day(at)}, ${clock(at)}`;

/** Room under the knees of everything that is not paid by the token; null where the report has no supply curves. */
function committedKnee(report: Report): number | null {
  const knees = new Map<string, number>();
  for (const curve of report.supply_curves ?? [])
    for (const step of curve.steps)
      if (step.tier !== "payg" && step.knee_tokens_per_s !== null)
        knees.set(step.destination, Math.max(knees.get(step.destination) ?? 0, step.knee_tokens_per_s));
  return knees.size ? [...knees.values()].reduce((a, b) => a + b, 0) : null;
}

function table(caption: string, slot: string, layers: Layer[], name: (i: number) => string) {
  const n = layers[0]?.values.length ?? 0;
  const head = [slot, ...layers.map((layer) => `${TIER_LABEL[layer.tier]}, tok/s`), "all, tok/s"];
  const rows = Array.from({ length: n }, (_, i) => {
    const values = layers.map((layer) => layer.values[i] ?? 0);
    return [name(i), ...values.map(compact), compact(values.reduce((a, b) => a + b, 0))];
  });
  return <PlainTable caption={caption} head={head} rows={rows} />;
}

export function Load({ report }: { report: Report }) {
  const { series } = report;
  const layers = tierRates(series);
  const n = series.arrived.length;
  if (!n || !layers.length) return null;
  const tiers: Tier[] = layers.map((layer) => layer.tier);
  const start = Date.parse(series.start) / 1000, end = start + n * series.bucket_seconds;
  const name = (i: number) => when(bucketStart(series, i));

  const totals = series.arrived.map((_, i) => layers.reduce((sum, layer) => sum + (layer.values[i] ?? 0), 0));
  const order = totals.map((_, i) => i).sort((a, b) => (totals[b] ?? 0) - (totals[a] ?? 0));
  const ranked = layers.map((layer) => ({ tier: layer.tier, values: order.map((i) => layer.values[i] ?? 0) }));
  const share = (i: number) => percent((i + 1) / n, n > 200 ? 1 : 0);

  const knee = committedKnee(report);
  const committed = layers.filter((layer) => layer.tier !== "payg");
  const carried = Math.max(0, ...series.arrived.map((_, i) => committed.reduce((sum, layer) => sum + (layer.values[i] ?? 0), 0)));
  const mark =
    knee !== null
      ? { value: knee, label: `knee of committed capacity ${compact(knee)} tok/s`, short: `knee ${compact(knee)} tok/s` }
      : carried > 0
        ? { value: carried, label: `most that committed capacity carried ${compact(carried)} tok/s`, short: `most carried ${compact(carried)} tok/s` }
        : undefined;
  const highest = Math.max(...totals);
  const inPicture = mark && mark.value <= highest * 3 ? mark : undefined;
  const legend = <Legend tiers={tiers} />;
  const bucket = duration(series.bucket_seconds);
  return (
    <Section id="load" title="Who carried the load" lead={`Tokens served per second, prompt and output, by tier of capacity; averages of ${bucket}.`}>
      <Figure
        title="Load-duration curve"
        note={
          <>
            The same window in order of load: the highest at the left.{" "}
            {mark && !inPicture && `The ${mark.label} lies far above the picture. `}
            What stands above the committed tiers is bought by the token.
          </>
        }
        legend={legend}
        table={() => table("Load-duration curve", "Share of time at or above", ranked, share)}
      >
        <Stack
          label={`Load-duration curve: highest ${compact(highest)} tokens per second, median ${compact(totals[order[Math.floor(n / 2)] ?? 0] ?? 0)}${mark ? `; ${mark.label}` : ""}`}
          unit="tok/s"
          layers={ranked}
          xLabels={(width) => (width < 420 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((at) => ({ at, label: `${at * 100}% of time` }))}
          slot={(i) => `at or above for ${share(i)} of the time:`}
          mark={inPicture}
        />
      </Figure>
      <Figure title="Dispatch over time" note="Who served, as the window went by. Times are UTC." legend={legend} table={() => table("Dispatch over time", "From (UTC)", layers, name)}>
        <Stack
          label={`Tokens per second by tier from ${name(0)} on: highest ${compact(highest)}`}
          unit="tok/s"
          layers={layers}
          xLabels={(width) => timeTicks(start, end, width).map((t) => ({ at: (t.at - start) / (end - start), label: t.label }))}
          slot={(i) => `${name(i)} UTC:`}
        />
      </Figure>
    </Section>
  );
}
