/** Four levers: what each claims, what of it counts, and what Shapley's order-free split says beside it. */
import { words } from "./format";
import { nano, position } from "./money";
import { Money, Section } from "./parts";
import { decomposed, type Lever, type Report } from "./report";

/** The span over the 24 orders as a line, Shapley's value as a dot on it, the chain's claim as a tick. */
function Range({ lever, low, high }: { lever: Lever; low: number; high: number }) {
  const at = (usd: string) => `${(((position(nano(usd)) - low) / (high - low)) * 100).toFixed(2)}%`;
  const width = position(nano(lever.shapley_high_usd)) - position(nano(lever.shapley_low_usd));
  return (
    <span class="range" aria-hidden="true">
      <i class="zero" style={`left:${((0 - low) / (high - low)) * 100}%`} />
      <i class="span" style={`left:${at(lever.shapley_low_usd)};width:${((width / (high - low)) * 100).toFixed(2)}%`} />
      <i class="claim" style={`left:${at(lever.claimed_usd)}`} />
      <i class="dot" style={`left:${at(lever.shapley_usd)}`} />
    </span>
  );
}

export function Levers({ report }: { report: Report }) {
  const { levers, unattributed } = report;
  const all = levers.flatMap((l) => [l.claimed_usd, l.shapley_low_usd, l.shapley_high_usd].map((usd) => position(nano(usd))));
  const low = Math.min(0, ...all), high = Math.max(low + 1e-9, ...all);
  const total = (key: keyof Omit<Lever, "lever">) => levers.reduce((sum, l) => sum + nano(l[key]), 0n);
  const rest = nano(unattributed.claimed_usd) !== 0n || nano(unattributed.counted_usd) !== 0n;
  const label = "Levers: claimed, disallowed, counted and Shapley";
  return (
    <Section
      id="levers"
      title="The four levers"
      lead={`Against the ${decomposed(report)} baseline, before fixed cost. The chain’s split is the claim; Shapley’s value and the range over all 24 orders stand beside it, to show how far the order matters.`}
    >
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table class="levers">
          <caption class="quiet">{label}</caption>
          <thead>
            <tr>
              <th scope="col">Lever</th>
              <th scope="col" class="num">Claimed</th>
              <th scope="col" class="num">Disallowed</th>
              <th scope="col" class="num">Counted</th>
              <th scope="col" class="num">Shapley</th>
              <th scope="col" class="num">Lowest order</th>
              <th scope="col" class="num">Highest order</th>
              <th scope="col" aria-hidden="true">
                <span class="key"><i class="dot" /> Shapley <i class="claim" /> claim</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {levers.map((l) => (
              <tr key={l.lever}>
                <th scope="row">{words(l.lever)}</th>
                {([l.claimed_usd, l.disallowed_usd, l.counted_usd, l.shapley_usd, l.shapley_low_usd, l.shapley_high_usd] as const).map((usd, i) => (
                  <td key={i} class={i === 2 ? "num strong" : "num"}>
                    <Money usd={usd} />
                  </td>
                ))}
                <td class="wide" aria-hidden="true">
                  <Range lever={l} low={low} high={high} />
                </td>
              </tr>
            ))}
            {rest && (
              <tr>
                <th scope="row">unattributed</th>
                <td class="num"><Money usd={unattributed.claimed_usd} /></td>
                <td class="num"><Money usd={nano(unattributed.claimed_usd) - nano(unattributed.counted_usd)} /></td>
                <td class="num strong"><Money usd={unattributed.counted_usd} /></td>
                <td colSpan={4} />
              </tr>
            )}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">sum</th>
              <td class="num"><Money usd={total("claimed_usd") + nano(unattributed.claimed_usd)} /></td>
              <td class="num">
                <Money usd={total("disallowed_usd") + nano(unattributed.claimed_usd) - nano(unattributed.counted_usd)} />
              </td>
              <td class="num strong"><Money usd={total("counted_usd") + nano(unattributed.counted_usd)} /></td>
              <td class="num"><Money usd={total("shapley_usd")} /></td>
              <td colSpan={3} />
            </tr>
          </tfoot>
        </table>
      </div>
    </Section>
  );
}
