/** Destinations, what their capacity cost, and where their knees ended up. */
import { count, percent } from "./format";
import { nano, sum } from "./money";
import { Figure, Money, PlainTable, Section, TierDot } from "./parts";
import { TIERS, type DestinationRow, type Report } from "./report";
import { SortableTable, type Column } from "./table";

const COLUMNS: Column<DestinationRow>[] = [
  { name: "Destination", cell: (d) => d.destination, by: (d) => d.destination },
  { name: "Tier", cell: (d) => <TierDot tier={d.tier} />, by: (d) => TIERS.indexOf(d.tier) },
  { name: "Provider", cell: (d) => d.provider, by: (d) => d.provider },
  { name: "Region", cell: (d) => d.region, by: (d) => d.region },
  {
    name: "In use",
    cell: (d) => (d.tier === "payg" ? "" : percent(d.used_share)),
    by: (d) => (d.tier === "payg" ? -1 : (d.used_share ?? -1)),
    number: true,
  },
  { name: "Requests", cell: (d) => count(d.requests), by: (d) => d.requests, number: true },
  { name: "Tokens", cell: (d) => count(d.tokens), by: (d) => d.tokens, number: true },
  { name: "Marginal", cell: (d) => <Money usd={d.marginal_usd} />, by: (d) => nano(d.marginal_usd), number: true },
  { name: "Fixed", cell: (d) => <Money usd={d.fixed_usd} />, by: (d) => nano(d.fixed_usd), number: true },
];

export function Destinations({ report }: { report: Report }) {
  const rows = report.destinations;
  const feet = ["", "", "", "", "", count(rows.reduce((a, d) => a + d.requests, 0)), count(rows.reduce((a, d) => a + d.tokens, 0)),
    <Money usd={sum(rows.map((d) => d.marginal_usd))} />, <Money usd={sum(rows.map((d) => d.fixed_usd))} />];
  const columns = COLUMNS.map((column, i) => ({ ...column, foot: feet[i] }));
  return (
    <Section id="destinations" title="Destinations" lead="Every place a request could run, what it served and what it cost.">
      <SortableTable caption="Destinations" columns={columns} rows={rows} footLabel="all" />
      {report.fixed_cost.length > 0 && (
        <Figure title="Fixed cost, used and idle" note="What runs whether or not a token is served; split by the share of capacity that was used.">
          <PlainTable
            caption="Fixed cost by destination"
            head={["Destination", "Kind", "Used", "Idle"]}
            words={[1]}
            rows={report.fixed_cost.map((line) => [line.destination, line.kind.replace(/_/g, " "), <Money usd={line.used_usd} />, <Money usd={line.idle_usd} />])}
          />
        </Figure>
      )}
    </Section>
  );
}

type Knee = Report["knees"][number];
const KNEE_COLUMNS: Column<Knee>[] = [
  { name: "Destination", cell: (k) => k.destination, by: (k) => k.destination },
  { name: "Model", cell: (k) => k.model, by: (k) => k.model },
  { name: "SLO class", cell: (k) => k.slo, by: (k) => k.slo },
  { name: "Prior", cell: (k) => percent(k.prior_share_of_cap), by: (k) => k.prior_share_of_cap, number: true },
  { name: "Fitted", cell: (k) => percent(k.fitted_share_of_cap), by: (k) => k.fitted_share_of_cap, number: true },
  {
    name: "Moved",
    cell: (k) => (
      <span class="moved" role="img" aria-label={`from ${percent(k.prior_share_of_cap)} to ${percent(k.fitted_share_of_cap)} of the cap`}>
        <i
          style={`left:${Math.min(k.prior_share_of_cap, k.fitted_share_of_cap) * 100}%;width:${Math.abs(k.fitted_share_of_cap - k.prior_share_of_cap) * 100}%`}
        />
        <b style={`left:${k.fitted_share_of_cap * 100}%`} />
      </span>
    ),
    by: (k) => k.fitted_share_of_cap - k.prior_share_of_cap,
    number: true,
  },
];

export function Knees({ report }: { report: Report }) {
  if (!report.knees.length) return null;
  return (
    <Section id="knees" title="Knees" lead="The share of its cap up to which a destination keeps its SLO: as first assumed, and as the run taught it.">
      <SortableTable caption="Knees, as a share of the cap" columns={KNEE_COLUMNS} rows={report.knees} />
    </Section>
  );
}
