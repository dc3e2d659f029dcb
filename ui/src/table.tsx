/** A table that sorts by its headers: buttons, so that click, Enter and Space all work. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ComponentChildren;
  /** What the column is ordered by; amounts as integers. */
  by: (row: Row) => bigint | number | string;
  /** Numbers stand right and sort largest first. */
  number?: boolean;
  foot?: ComponentChildren;
}

interface Order {
  column: number;
  descending: boolean;
}

function compare(a: bigint | number | string, b: bigint | number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const ROWS_SHOWN = 15;

export function SortableTable<Row>(props: {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  first?: Order;
  footLabel?: string;
}) {
  const { columns, rows } = props;
  const [order, setOrder] = useState<Order | null>(props.first ?? null);
  const [all, setAll] = useState(false);
  const sorted = useMemo(() => {
    const column = order && columns[order.column];
    if (!column) return rows;
    const sign = order.descending ? -1 : 1;
    return [...rows].sort((a, b) => sign * compare(column.by(a), column.by(b)));  // stable: ties keep their order
  }, [rows, columns, order]);
  const shown = all ? sorted : sorted.slice(0, ROWS_SHOWN);

  const press = (column: number) =>
    setOrder((now) =>
      now && now.column === column
        ? { column, descending: !now.descending }
        : { column, descending: columns[column]?.number ?? false },
    );
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={props.caption}>
        <table class="sortable">
          <caption class="quiet">{props.caption}</caption>
          <thead>
            <tr>
              {columns.map((column, i) => {
                const sort = order?.column === i ? (order.descending ? "descending" : "ascending") : "none";
                return (
                  <th key={column.name} scope="col" class={column.number ? "num" : ""} aria-sort={sort}>
                    <button type="button" onClick={() => press(i)}>
                      {column.name}
                      <span class="arrow" aria-hidden="true">
                        {sort === "descending" ? "↓" : sort === "ascending" ? "↑" : "↕"}
                      </span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, r) => (
              <tr key={r}>
                {columns.map((column, i) => {
                  const cell = column.cell(row);
                  const long = typeof cell === "string" && cell.length > 28 ? "long" : "";
                  return i ? (
                    <td key={i} class={column.number ? "num" : long}>
                      {cell}
                    </td>
                  ) : (
                    <th key={i} scope="row" class={long}>
                      {cell}
                    </th>
                  );
                })}
              </tr>
            ))}
          </tbody>
          {props.footLabel && (
            <tfoot>
              <tr>
                {columns.map((column, i) =>
                  i ? (
                    <td key={i} class={column.number ? "num" : ""}>
                      {column.foot}
                    </td>
                  ) : (
                    <th key={i} scope="row">
                      {props.footLabel}
                    </th>
                  ),
                )}
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      {rows.length > ROWS_SHOWN && (
        <button type="button" class="more" onClick={() => setAll(!all)} aria-expanded={all}>
          {all ? `Show the first ${ROWS_SHOWN}` : `Show all ${rows.length} rows`}
        </button>
      )}
    </>
  );
}
