/** Who pays what: rolled up by any key, or every line. Sums are integers, so a roll-up is exact. */
import { useMemo, useState } from "preact/hooks";
import { count, hour, words } from "./format";
import { exact, nano, sum } from "./money";
import { Money, PlainTable, Section } from "./parts";
import type { ChargebackRow, Report } from "./report";
import { SortableTable, type Column } from "./table";

type Key = "tenant" | "team" | "model" | "destination";
const KEYS: Key[] = ["tenant", "team", "model", "destination"];
const COUNTS = ["requests", "input_tokens", "cached_tokens", "output_tokens"] as const;
const AMOUNTS = ["total_usd", "charged_usd", "fixed_usd", "idle_usd", "baseline_usd"] as const;
const NAMES: Record<string, string> = {
  requests: "Requests", input_tokens: "Input, not cached", cached_tokens: "Input, cached", output_tokens: "Output tokens",
  baseline_usd: "Baseline", charged_usd: "Charged", fixed_usd: "Fixed", idle_usd: "Idle", total_usd: "Total",
};

/** Lines that share a key become one; money is added in nano-dollars. */
export function rollUp(rows: ChargebackRow[], key: Key): ChargebackRow[] {
  const groups = new Map<string, ChargebackRow[]>();
  for (const row of rows) groups.set(row[key], [...(groups.get(row[key]) ?? []), row]);
  return [...groups.values()].map((group) => {
    const row: ChargebackRow = { ...group[0]!, tenant: "", team: "", model: "", destination: "", [key]: group[0]![key] };
    for (const name of COUNTS) row[name] = group.reduce((total, line) => total + line[name], 0);
    for (const name of [...AMOUNTS, "marginal_usd"] as const) row[name] = exact(sum(group.map((line) => line[name])));
    return row;
  });
}

function columnsOf(keys: Key[], rows: ChargebackRow[]): Column<ChargebackRow>[] {
  return [
    ...keys.map((key): Column<ChargebackRow> => ({
      name: key[0]!.toUpperCase() + key.slice(1),
      cell: (row) => row[key] || "(none)",
      by: (row) => row[key],
    })),
    ...AMOUNTS.map((name): Column<ChargebackRow> => ({
      name: NAMES[name]!,
      cell: (row) => <Money usd={row[name]} />,
      by: (row) => nano(row[name]),
      number: true,
      foot: <Money usd={sum(rows.map((row) => row[name]))} />,
    })),
    ...COUNTS.map((name): Column<ChargebackRow> => ({
      name: NAMES[name]!,
      cell: (row) => count(row[name]),
      by: (row) => row[name],
      number: true,
      foot: count(rows.reduce((total, row) => total + row[name], 0)),
    })),
  ];
}

export function Chargeback({ report }: { report: Report }) {
  const lines = report.chargeback;
  const [by, setBy] = useState<Key | "line">("tenant");
  const rows = useMemo(() => (by === "line" ? lines : rollUp(lines, by)), [lines, by]);
  const keys = by === "line" ? KEYS : [by];
  const columns = useMemo(() => columnsOf(keys, rows), [rows, by]);
  const { adjustments, clearing, idle_reserved_usd, idle_unassigned_usd } = report.settlement;
  return (
    <Section id="chargeback" title="Chargeback" lead="Who used what, and what it is charged: the settlement price, a share of fixed cost, a share of idle.">
      <div class="segments" role="group" aria-label="Chargeback by">
        {([...KEYS, "line"] as const).map((key) => (
          <button key={key} type="button" aria-pressed={by === key} onClick={() => setBy(key)}>
            {key === "line" ? "Every line" : `By ${key}`}
          </button>
        ))}
      </div>
      <SortableTable key={by} caption={by === "line" ? "Chargeback, every line" : `Chargeback by ${by}`} columns={columns} rows={rows} first={{ column: keys.length, descending: true }} footLabel="all" />
      <dl class="line">
        <div>
          <dt>idle that a reservation holds</dt>
          <dd><Money usd={idle_reserved_usd} /></dd>
        </div>
        <div>
          <dt>idle nobody carries</dt>
          <dd><Money usd={idle_unassigned_usd} /></dd>
        </div>
      </dl>
      {adjustments.length > 0 && (
        <details>
          <summary>Adjustments beside the usage lines</summary>
          <PlainTable
            caption="Adjustments"
            head={["Adjustment", "Destination", "Tenant", "Amount"]}
            words={[1, 2]}
            rows={adjustments.map((a) => [words(a.kind), a.destination || "(none)", a.tenant ?? "unassigned", <Money usd={a.usd} />])}
          />
        </details>
      )}
      {clearing.length > 0 && <Clearing lines={clearing} />}
    </Section>
  );
}

type ClearingLine = Report["settlement"]["clearing"][number];
const perMtok = (value: string) => <data value={value} title={`${value} USD per million tokens`}>${value}</data>;
const CLEARING: Column<ClearingLine>[] = [
  { name: "Hour (UTC)", cell: (c) => hour(c.hour), by: (c) => c.hour },
  { name: "Model", cell: (c) => c.model, by: (c) => c.model },
  { name: "SLO class", cell: (c) => c.slo, by: (c) => c.slo },
  { name: "Dearest in use", cell: (c) => c.dearest, by: (c) => c.dearest },
  { name: "Clearing, $/Mtok", cell: (c) => perMtok(c.clearing_usd_per_mtok), by: (c) => nano(c.clearing_usd_per_mtok), number: true },
  { name: "Average, $/Mtok", cell: (c) => perMtok(c.average_usd_per_mtok), by: (c) => nano(c.average_usd_per_mtok), number: true },
];

function Clearing({ lines }: { lines: ClearingLine[] }) {
  return (
    <details>
      <summary>Clearing price by hour, model and SLO class</summary>
      <SortableTable caption="Clearing prices" columns={CLEARING} rows={lines} />
    </details>
  );
}
