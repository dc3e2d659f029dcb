/** Small parts that every section uses. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { display, exact, nano } from "./money";
import { TIER_LABEL, type Tier } from "./report";

/** An amount: rounded to be read, exact in its value and on hover. */
export function Money({ usd, signed = false }: { usd: string | bigint; signed?: boolean }) {
  const amount = typeof usd === "bigint" ? usd : nano(usd);
  const value = typeof usd === "bigint" ? exact(usd) : usd;
  const kind = amount < 0n ? "usd loss" : "usd";
  return (
    <data class={kind} value={value} title={`${value} USD`}>
      {signed && amount > 0n ? "+" : ""}
      {display(amount)}
    </data>
  );
}

export function TierDot({ tier }: { tier: Tier }) {
  return (
    <span class="tier">
      <i class={`dot t-${tier}`} aria-hidden="true" />
      {TIER_LABEL[tier] ?? tier}
    </span>
  );
}

export function Legend({ tiers }: { tiers: Tier[] }) {
  return (
    <ul class="legend">
      {tiers.map((tier) => (
        <li key={tier}>
          <TierDot tier={tier} />
        </li>
      ))}
    </ul>
  );
}

export function Section(props: { id: string; title: string; lead?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section id={props.id} aria-labelledby={`${props.id}-title`}>
      <h2 id={`${props.id}-title`}>{props.title}</h2>
      {props.lead && <p class="lead">{props.lead}</p>}
      {props.children}
    </section>
  );
}

/** A chart with its name, its legend and, one click away, the same data as a table (built when it is opened). */
export function Figure(props: {
  title: string;
  note?: ComponentChildren;
  legend?: ComponentChildren;
  children: ComponentChildren;
  table?: () => JSX.Element;
}) {
  const [open, setOpen] = useState(false);
  return (
    <figure>
      <figcaption>
        <h3>{props.title}</h3>
        {props.note && <p>{props.note}</p>}
      </figcaption>
      {props.legend}
      {props.children}
      {props.table && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            Data as a table<span class="quiet">: {props.title}</span>
          </summary>
          {open && props.table()}
        </details>
      )}
    </figure>
  );
}

/** Rows of plain cells; wide ones scroll inside their own box. @param words the columns of text; the others are numbers */
export function PlainTable({ caption, head, rows, words = [] }: {
  caption: string;
  head: string[];
  rows: ComponentChildren[][];
  words?: number[];
}) {
  const kind = (i: number) => (i === 0 || words.includes(i) ? "" : "num");
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="quiet">{caption}</caption>
        <thead>
          <tr>
            {head.map((name, i) => (
              <th key={name} scope="col" class={kind(i)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, r) => (
            <tr key={r}>
              {row.map((cell, i) => (i ? <td key={i} class={kind(i)}>{cell}</td> : <th key={i} scope="row">{cell}</th>))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Fact({ name, children, note }: { name: string; children: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>
        {children}
        {note && <small>{note}</small>}
      </dd>
    </div>
  );
}
