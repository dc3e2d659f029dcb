/** Of requests from a spine: what really happened beside what this fleet would have done. */
import { attainment, count, percent } from "./format";
import { nano } from "./money";
import { Money, Section } from "./parts";
import type { Experience, Report } from "./report";
import { SortableTable, type Column } from "./table";

interface Row {
  model: string;
  destination: string;
  realised: Experience;
  predicted: Experience;
}

const time = (seconds: number | null, unit: "s" | "ms"): string =>
  seconds === null ? "n/a" : unit === "s" ? `${seconds.toFixed(2)} s` : `${(seconds * 1e3).toFixed(1)} ms`;

/** Two columns of one measure: as it was, and as it would have been. */
function both(name: string, cell: Column<Experience>["cell"], by: Column<Experience>["by"]): Column<Row>[] {
  return (["realised", "predicted"] as const).map((side) => ({
    name: `${name}, ${side}`,
    cell: (row: Row) => cell(row[side]),
    by: (row: Row) => by(row[side]),
    number: true,
  }));
}

const COLUMNS: Column<Row>[] = [
  { name: "Model", cell: (row) => row.model, by: (row) => row.model },
  { name: "Destination", cell: (row) => row.destination || "(none)", by: (row) => row.destination },
  ...both("Served", (e) => count(e.served), (e) => e.served),
  ...both("Marginal", (e) => <Money usd={e.marginal_usd} />, (e) => nano(e.marginal_usd)),
  ...both("SLO", (e) => attainment(e.slo_share), (e) => e.slo_share ?? -1),
  ...both("Spilled", (e) => percent(e.spilled_share, 2), (e) => e.spilled_share ?? -1),
  ...both("TTFT p95", (e) => time(e.ttft_s_p95, "s"), (e) => e.ttft_s_p95 ?? -1),
  ...both("TPOT p95", (e) => time(e.tpot_s_p95, "ms"), (e) => e.tpot_s_p95 ?? -1),
];

export function Realised({ report }: { report: Report }) {
  const { realised } = report;
  if (!realised) return null;
  const rows: Row[] = [{ model: "all", destination: "all", ...realised.total }, ...realised.by_destination];
  const unpriced = realised.total.realised.unpriced;
  return (
    <Section
      id="realised"
      title="Predicted against realised"
      lead="These requests come from an event spine, which says what became of them; beside it, what this fleet would have done with the same arrivals."
    >
      <SortableTable caption="Requests that were served, by model and destination" columns={COLUMNS} rows={rows} />
      <p class="quiet">
        Fixed cost: realised <Money usd={realised.total.realised.fixed_usd} />, predicted{" "}
        <Money usd={realised.total.predicted.fixed_usd} />.
        {unpriced > 0 && ` ${count(unpriced)} served requests are not in the realised cost: nobody says what they cost.`}
      </p>
    </Section>
  );
}
