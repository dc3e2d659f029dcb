/** From the baseline to the actual cost in seven bars, an eighth where something is unattributed. */
import { words } from "./format";
import { nano, position } from "./money";
import { Figure, Money, PlainTable, Section } from "./parts";
import { decomposed, type Bar, type Report } from "./report";

/** One bar as shares of the picture: everything it spans, and the parts it is made of. */
interface Placed {
  bar: Bar;
  kind: "total" | "saving" | "cost";
  from: number;
  to: number;
  parts: { kind: string; from: number; to: number }[];
}

/** What of each lever's claim counts. */
function countedOf(report: Report, name: string): bigint | null {
  if (name === "unattributed") return nano(report.unattributed.counted_usd);
  const lever = report.levers.find((l) => l.lever === name);
  return lever ? nano(lever.counted_usd) : null;
}

function place(report: Report): Placed[] {
  let level = 0n;
  return report.waterfall.map((bar) => {
    const amount = nano(bar.usd);
    const start = bar.total ? 0n : level;
    const end = start + amount;
    level = end;
    const parts: Placed["parts"] = [];
    const add = (kind: string, from: bigint, to: bigint) => {
      if (from !== to) parts.push({ kind, from: position(from), to: position(to) });
    };
    const counted = countedOf(report, bar.bar);
    if (bar.total) add("total", start, end);
    else if (counted !== null) {
      add(counted < 0n ? "cost" : "counted", start, start - counted);
      add("disallowed", start - counted, end);
    } else {
      const idle = bar.idle_usd === undefined ? 0n : nano(bar.idle_usd);
      add("cost", start, end - idle);
      add("idle", end - idle, end);
    }
    if (!parts.length) parts.push({ kind: "nil", from: position(start), to: position(end) });
    const kind = bar.total ? "total" : amount > 0n ? "cost" : "saving";
    return { bar, kind, from: position(start), to: position(end), parts };
  });
}

const NOTE: Record<string, string> = {
  baseline: "every request at its default price",
  caching: "prompt tokens not bought twice",
  routing: "a cheaper model that is good enough",
  arbitrage: "the same model, a cheaper place",
  utilization: "capacity already paid for, before its fee",
  "fixed cost": "what that capacity costs, used and idle",
  unattributed: "no lever can claim it",
  actual: "what it cost, fully loaded",
};

export function Waterfall({ report }: { report: Report }) {
  const bars = place(report);
  const edges = bars.flatMap((bar) => [bar.from, bar.to, ...bar.parts.flatMap((p) => [p.from, p.to])]);
  const low = Math.min(0, ...edges), high = Math.max(1e-9, ...edges);
  const share = (value: number) => ((value - low) / (high - low)) * 100;
  const box = (a: number, b: number) => `--a:${share(Math.min(a, b)).toFixed(3)}%;--s:${Math.abs(share(b) - share(a)).toFixed(3)}%`;
  return (
    <Section id="waterfall" title="From the baseline to what it cost" lead={`Against the ${decomposed(report)} baseline, lever by lever. Solid counts; hatched is claimed but disallowed by a gate.`}>
      <Figure
        title="Savings waterfall"
        note={report.coverage.excluded.length > 0 && "Excluded requests are in it: their cost stands in baseline and actual alike."}
        legend={
          <ul class="legend">
            <li><i class="dot w-total" aria-hidden="true" /> total</li>
            <li><i class="dot w-counted" aria-hidden="true" /> saving, counted</li>
            <li><i class="dot w-disallowed" aria-hidden="true" /> saving, disallowed</li>
            <li><i class="dot w-cost" aria-hidden="true" /> added cost</li>
            <li><i class="dot w-idle" aria-hidden="true" /> of it idle</li>
          </ul>
        }
        table={() => (
          <PlainTable
            caption="Savings waterfall: what each bar adds to the cost"
            head={["Bar", "Adds to the cost", "Of it used", "Of it idle", "Counted saving"]}
            rows={report.waterfall.map((bar) => {
              const counted = bar.total ? null : countedOf(report, bar.bar);
              return [
                bar.bar,
                <Money usd={bar.usd} />,
                bar.used_usd === undefined ? "" : <Money usd={bar.used_usd} />,
                bar.idle_usd === undefined ? "" : <Money usd={bar.idle_usd} />,
                counted === null ? "" : <Money usd={counted} />,
              ];
            })}
          />
        )}
      >
        <ol class="waterfall" style={`--zero:${share(0).toFixed(3)}%;--n:${bars.length}`}>
          {bars.map(({ bar, kind, from, to, parts }, i) => (
            <li key={bar.bar} class={kind}>
              <div class="name">
                {words(bar.bar)}
                <small>{NOTE[bar.bar]}</small>
              </div>
              <div class="body">
                {parts.map((part) => (
                  <i key={part.kind} class={`bar w-${part.kind}`} style={box(part.from, part.to)} aria-hidden="true" />
                ))}
                {i + 1 < bars.length && <i class="join" style={box(to, to)} aria-hidden="true" />}
                <div class="amount" style={box(from, to)}>
                  <Money usd={bar.usd} signed={!bar.total} />
                </div>
              </div>
            </li>
          ))}
        </ol>
      </Figure>
    </Section>
  );
}
