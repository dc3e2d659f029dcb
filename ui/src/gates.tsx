/** What was claimed and does not count, and why. */
import { attainment, count, hour, reason } from "./format";
import { nano } from "./money";
import { Fact, Money, PlainTable, Section } from "./parts";
import type { FailingCell, Report } from "./report";
import { SortableTable, type Column } from "./table";

const COLUMNS: Column<FailingCell>[] = [
  { name: "Hour (UTC)", cell: (c) => hour(c.hour), by: (c) => c.hour },
  { name: "Tenant", cell: (c) => c.tenant || "(none)", by: (c) => c.tenant },
  { name: "Model", cell: (c) => c.model, by: (c) => c.model },
  { name: "Failed gate", cell: (c) => reason(c.reason) + (c.judged_by_day ? ", by day" : ""), by: (c) => c.reason },
  { name: "Requests", cell: (c) => count(c.requests), by: (c) => c.requests, number: true },
  { name: "Served", cell: (c) => attainment(c.served_share), by: (c) => c.served_share ?? -1, number: true },
  { name: "SLO met", cell: (c) => attainment(c.slo_share), by: (c) => c.slo_share ?? -1, number: true },
  { name: "Disallowed", cell: (c) => <Money usd={c.disallowed_usd} />, by: (c) => nano(c.disallowed_usd), number: true },
];

export function Gates({ report }: { report: Report }) {
  const { gates, headline } = report;
  return (
    <Section
      id="gates"
      title="Gates"
      lead="A cell is an hour of one tenant and one model. Where it breaks its promise, none of its savings count, and all of its losses do."
    >
      <dl class="facts">
        <Fact name="Cells that failed" note={`of ${count(gates.cells)}`}>
          {count(gates.failed_cells)}
        </Fact>
        <Fact name="Disallowed" note="claimed, and not counted">
          <Money usd={headline.disallowed_usd} />
        </Fact>
      </dl>
      {gates.by_reason.length > 0 && (
        <PlainTable
          caption="Disallowed by reason"
          head={["Reason", "Requests", "Disallowed"]}
          rows={gates.by_reason.map((r) => [reason(r.reason), count(r.requests), <Money usd={r.disallowed_usd} />])}
        />
      )}
      {gates.failing.length > 0 && (
        <>
          <h3>
            Failing cells
            {gates.failing.length < gates.failed_cells && <small>: the first {count(gates.failing.length)} of {count(gates.failed_cells)}</small>}
          </h3>
          <SortableTable caption="Failing cells" columns={COLUMNS} rows={gates.failing} />
        </>
      )}
    </Section>
  );
}
