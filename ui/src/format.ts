/** Counts, shares, rates and times as people read them; the same in every locale. */
import { group } from "./money";

const MINUS = "\u2212";

export function count(value: number): string {
  return (value < 0 ? MINUS : "") + group(Math.abs(value).toFixed(0));
}

/** A ratio as a percentage. */
export function percent(share: number | null | undefined, places = 1): string {
  if (share === null || share === undefined) return "n/a";
  const text = Math.abs(share * 100).toFixed(places);
  return `${share < 0 && Number(text) !== 0 ? MINUS : ""}${text}%`;
}

/** An attainment: never rounded up to a full hundred. */
export function attainment(share: number | null | undefined): string {
  if (share === null || share === undefined) return "n/a";
  return share < 1 && share > 0.99995 ? ">99.99%" : percent(share, 2);
}

export function points(change: number | null): string {
  if (change === null) return "n/a";
  const text = Math.abs(change * 100).toFixed(1);
  const sign = Number(text) === 0 ? "" : change < 0 ? MINUS : "+";
  return `${sign}${text} pt`;
}

/** A price that was estimated, not booked: three significant digits. */
export function price(usd: number): string {
  const magnitude = Math.abs(usd);
  const text = magnitude === 0 ? "0" : magnitude >= 100 ? group(magnitude.toFixed(0)) : magnitude >= 0.995 ? magnitude.toFixed(2) : magnitude.toPrecision(3);
  return `${usd < 0 ? MINUS : ""}$${text}`;
}

/** Three significant digits with k, M, G. */
export function compact(value: number): string {
  const magnitude = Math.abs(value);
  for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (magnitude >= unit * 0.9995) return trim((value / unit).toPrecision(3)) + letter;
  }
  return magnitude === 0 ? "0" : magnitude >= 100 ? value.toFixed(0) : trim(value.toPrecision(3));
}

const trim = (digits: string): string =>
  (digits.includes(".") && !digits.includes("e") ? digits.replace(/\.?0+$/, "") : digits).replace("-", MINUS);

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (value: number): string => String(value).padStart(2, "0");

/** "14 May, 09:30" from RFC 3339. */
export const hour = (rfc3339: string): string => {
  const at = new Date(rfc3339);
  return Number.isNaN(at.getTime()) ? rfc3339 : `${day(at)}, ${clock(at)}`;
};

/** "14 May 2024, 09:30 UTC" from RFC 3339. */
export function moment(rfc3339: string): string {
  const at = new Date(rfc3339);
  return Number.isNaN(at.getTime()) ? rfc3339 : `${day(at)} ${at.getUTCFullYear()}, ${clock(at)} UTC`;
}
export const day = (at: Date): string => `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
export const clock = (at: Date): string => `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;

export function duration(seconds: number): string {
  const units: [number, string][] = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  for (const [length, name] of units) {
    if (seconds < length && length > 1) continue;
    const value = seconds / length;
    const text = value >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
    return `${text} ${name}${text === "1" ? "" : "s"}`;
  }
  return "0 seconds";
}

const REASONS: Record<string, string> = {
  unpriced: "no price",
  no_baseline: "no compliant default price",
  slo_request: "request served outside its SLO",
  cell_served_fraction: "cell served too small a share",
  cell_slo: "cell below its SLO target",
  cell_quality: "cell below its quality bound",
  insufficient_evidence: "not enough audits of the cache",
  gap: "decisions not recorded",
  not_served: "request not served",
  assumed_routing: "routing without quality evidence",
};
/** Why something does not count, said to a person. */
export const reason = (name: string): string => REASONS[name] ?? words(name);

/** A name of the JSON as words: "cell_served_fraction" is "cell served fraction". */
export const words = (name: string): string => name.replace(/_/g, " ");
