/** How far the result can be trusted: sensitivity, bounds, assumptions. */
import { count, percent, points } from "./format";
import { Fact, Figure, Money, PlainTable, Section } from "./parts";
import type { Report, SensitivityRow } from "./report";

/** Rows that differ only in a signed percentage are two ends of one bar. */
function pairs(rows: SensitivityRow[]): { name: string; ends: SensitivityRow[]; reach: number }[] {
  const groups = new Map<string, SensitivityRow[]>();
  for (const row of rows) {
    const name = row.what.replace(/\s*[+\u2212-]\s*\d+(\.\d+)?\s*(%|points|pt)/g, "").trim();
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups.values()]
    .map((ends) => ({
      name: ends.length > 1 ? ends[0]!.what.replace(/\s*[+\u2212-]\s*\d+(\.\d+)?\s*(%|points|pt)/g, "").trim() : ends[0]!.what,
      ends,
      reach: Math.max(...ends.map((row) => Math.abs(row.change ?? 0))),
    }))
    .sort((a, b) => b.reach - a.reach);
}

export function Sensitivity({ report }: { report: Report }) {
  const { rows, sample_share, baseline } = report.sensitivity;
  if (!rows.length) return null;
  const widest = Math.max(1e-9, ...rows.map((row) => Math.abs(row.change ?? 0)));
  const box = (change: number) => {
    const reach = (Math.abs(change) / widest) * 50;
    return `left:${(change < 0 ? 50 - reach : 50).toFixed(2)}%;width:${reach.toFixed(2)}%`;
  };
  return (
    <Section
      id="sensitivity"
      title="Sensitivity"
      lead={
        sample_share < 1
          ? `What moves the result, in points of the saving share against ${baseline}; run on a seeded sample of ${percent(sample_share, 0)} of the requests with capacity scaled alike.`
          : `What moves the result, in points of the saving share against ${baseline}.`
      }
    >
      <Figure
        title="Tornado"
        note="One input changed at a time; the widest first."
        table={() => (
          <PlainTable
            caption="Sensitivity"
            head={["Changed", "Against", "Baseline", "Counted saving", "Of it fixed", "Disallowed", "Failed cells", "Claimed share", "Saving share", "Change"]}
            words={[1]}
            rows={rows.map((r) => [r.what, r.baseline, <Money usd={r.baseline_usd} />, <Money usd={r.counted_saving_usd} />, <Money usd={r.fixed_usd} />, <Money usd={r.disallowed_usd} />, count(r.failed_cells), percent(r.claimed_share), percent(r.saving_share), points(r.change)])}
          />
        )}
      >
        <ol class="tornado">
          {pairs(rows).map(({ name, ends }) => (
            <li key={name}>
              <div class="name">{name}</div>
              <div class="plot" aria-hidden="true">
                {ends.map((row) => (
                  <i key={row.what} class={(row.change ?? 0) < 0 ? "down" : "up"} style={box(row.change ?? 0)} />
                ))}
              </div>
              <div class="ends">
                {ends.map((row) => (
                  <span key={row.what}>
                    {ends.length > 1 && <span class="which">{/[+\u2212-]\s*\d+(\.\d+)?\s*(%|points|pt)/.exec(row.what)?.[0] ?? row.what}: </span>}
                    <b>{points(row.change)}</b> <small>to {percent(row.saving_share)}</small>
                  </span>
                ))}
              </div>
            </li>
          ))}
        </ol>
      </Figure>
    </Section>
  );
}

export function Bounds({ report }: { report: Report }) {
  const bounds = report.bounds;
  if (!bounds) return null;
  return (
    <Section id="bounds" title="Share of the possible" lead="No policy can beat a bound: each is computed with foresight the dispatcher does not have.">
      <dl class="facts">
        <Fact
          name="Of what any dispatch could reach"
          note={
            <>
              of the saving against all-payg; these requests on this fleet cost at best <Money usd={bounds.dispatch_bound_usd} /> marginal
            </>
          }
        >
          {percent(bounds.dispatch_share_of_possible)}
        </Fact>
        <Fact
          name="Of what any plan could reach"
          note={
            <>
              of the saving against all-payg; units and commitments chosen with foresight too, at best <Money usd={bounds.plan_bound_usd} /> fully loaded
            </>
          }
        >
          {percent(bounds.plan_share_of_possible)}
        </Fact>
      </dl>
    </Section>
  );
}

export function Assumptions({ report }: { report: Report }) {
  return (
    <Section id="assumptions" title="Assumptions" lead="What the numbers rest on.">
      <ul class="assumptions">
        {report.assumptions.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <p class="quiet-note">
        Trace {report.source.trace} ({report.source.format}), fleet {report.source.fleet} ({report.source.fleet_digest}), seed {String(report.source.seed)}, {count(report.source.islands)}{" "}
        {report.source.islands === 1 ? "island" : "islands"}, {report.schema}. The same inputs give the same bytes.
      </p>
    </Section>
  );
}
