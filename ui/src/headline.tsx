/** Coverage, then the headline and the other baselines: a percentage never stands without its baseline's name. */
import { attainment, count, duration, moment, percent, points, reason } from "./format";
import { nano } from "./money";
import { Fact, Money, PlainTable, Section } from "./parts";
import type { Baseline, Report } from "./report";

export function Coverage({ report }: { report: Report }) {
  const { coverage, window } = report;
  const lost = coverage.excluded.length + coverage.not_replayed.length + coverage.rows_skipped.length;
  return (
    <Section id="coverage" title="Coverage">
      <div class="coverage">
        <p class="covered">
          <b class="figure">{percent(coverage.priced_share, 2)}</b>
          <span>
            of requests are priced: {count(coverage.priced_requests)} of {count(coverage.requests_considered)} considered, {count(coverage.requests)} replayed, from {count(coverage.rows)} rows over{" "}
            {duration(window.seconds)}.
          </span>
        </p>
        <div class="meter" role="img" aria-label={`${percent(coverage.priced_share, 2)} priced`}>
          <i style={`width:${Math.max(0, Math.min(1, coverage.priced_share ?? 0)) * 100}%`} />
        </div>
      </div>
      {lost === 0 && <p class="lead">Nothing was excluded, skipped or left out.</p>}
      {lost > 0 && (
        <PlainTable
          caption="What the saving leaves out, and why"
          head={["Left out", "Why", "Count", "Tokens", "Cost", "Share of the baseline"]}
          words={[1]}
          rows={[
            ...coverage.excluded.map((e) => ["excluded requests", reason(e.reason), count(e.requests), "", <Money usd={e.cost_usd} />, percent(e.share_of_baseline, 2)]),
            ...coverage.not_replayed.map((e) => ["requests not replayed", e.reason, count(e.requests), count(e.tokens), e.logged_cost_usd === "0.00" ? "" : <Money usd={e.logged_cost_usd} />, ""]),
            ...coverage.rows_skipped.map((e) => [
              "rows skipped",
              e.first_lines.length ? `${e.reason} (lines ${e.first_lines.slice(0, 5).map(String).join(", ")}${e.rows > 5 ? ", \u2026" : ""})` : e.reason,
              count(e.rows), "", "", "",
            ]),
          ]}
        />
      )}
      {window.shorter_than_7_days && (
        <p class="caution">
          The window, {moment(window.from)} to {moment(window.to)}, is shorter than 7 days: fixed cost and the shape of load do not extrapolate.
        </p>
      )}
    </Section>
  );
}

/** What a baseline is and, where it was replayed, how well it served. */
const replayed = (b: Baseline): string =>
  b.slo_share === undefined ? b.meaning : `${b.meaning}; it serves ${attainment(b.served_share)} of requests and meets the SLO of ${attainment(b.slo_share)} of those`;

export function Headline({ report }: { report: Report }) {
  const h = report.headline;
  const other =
    report.baselines.find((b) => b.baseline !== h.baseline && b.baseline === "status-quo") ??
    report.baselines.find((b) => b.baseline !== h.baseline && b.baseline === "all-payg");
  return (
    <Section id="saving" title="Counted saving">
      <div class="headline">
        <div class="first">
          <p class="big">
            <Money usd={h.counted_saving_usd} />
          </p>
          <p class="against">
            <b>{percent(h.counted_saving_share)}</b> of the <b>{h.baseline}</b> baseline, fully loaded
          </p>
          {h.other_servers.map((r) => (
            <p class="meaning" key={r.what}>
              <b>{percent(r.saving_share)}</b> ({points(r.change)}) with {r.what}
            </p>
          ))}
          <p>
            <span class={`grade g-${h.grade}`}>grade: {h.grade}</span>
          </p>
        </div>
        {other && (
          <div class="second">
            <h3>Against {other.baseline}</h3>
            <p class="big">
              <Money usd={other.counted_saving_usd} />
            </p>
            <p class="against">
              <b>{percent(other.counted_saving_share)}</b> of the <b>{other.baseline}</b> baseline
              {nano(other.fixed_on_both_sides_usd) !== 0n ? (
                <>
                  , fixed cost of <Money usd={other.fixed_on_both_sides_usd} /> on both sides
                </>
              ) : (
                ", fully loaded"
              )}
            </p>
            <p class="meaning">{replayed(other)}</p>
          </div>
        )}
      </div>
      <dl class="facts">
        <Fact name={`Baseline, ${h.baseline}`}>
          <Money usd={h.baseline_usd} />
        </Fact>
        <Fact
          name="Actual cost"
          note={
            <>
              marginal <Money usd={h.actual_marginal_usd} /> + fixed <Money usd={h.fixed_usd} />
            </>
          }
        >
          <Money usd={h.actual_fully_loaded_usd} />
        </Fact>
        <Fact
          name="Claimed"
          note={
            <>
              before the gates disallow <Money usd={h.disallowed_usd} />
            </>
          }
        >
          <Money usd={h.claimed_saving_usd} />
        </Fact>
        <Fact name="Marginal view" note={`${percent(h.counted_marginal_saving_share)} of ${h.baseline}, before fixed cost`}>
          <Money usd={h.counted_marginal_saving_usd} />
        </Fact>
        {nano(h.assumed_routing_usd) !== 0n && (
          <Fact name="Assumed, outside the headline" note="routing without quality evidence">
            <Money usd={h.assumed_routing_usd} />
          </Fact>
        )}
        {nano(h.assumed_baseline_usd) !== 0n && (
          <Fact name="Rests on assumed prices" note="default prices that nobody contracted; inside the headline, which is why its grade says so">
            <Money usd={h.assumed_baseline_usd} />
          </Fact>
        )}
      </dl>
      <h3>Against each baseline</h3>
      <PlainTable
        caption="The same run against each baseline"
        head={["Baseline", "Baseline cost", "Claimed", "Counted", "Saving share", "What it is"]}
        words={[5]}
        rows={report.baselines.map((b) => [
          <span class="name">{b.baseline}</span>,
          <Money usd={b.baseline_usd} />,
          <Money usd={b.claimed_saving_usd} />,
          <Money usd={b.counted_saving_usd} />,
          percent(b.counted_saving_share),
          <small class="meaning">
            {replayed(b)}
          </small>,
        ])}
      />
    </Section>
  );
}
