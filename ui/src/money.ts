/** Money on the page: exact decimal strings in, integer nano-dollars for sums and order, rounded once to be read. */

const NANO_DIGITS = 9;

/** Nano-units of an exact decimal such as "-12.000000001". @throws on anything else: a wrong amount is never shown. */
export function nano(decimal: string): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(decimal);
  if (!parts) throw new Error(`not an exact decimal of at most 9 places: "${decimal}"`);
  const magnitude = BigInt(parts[2] + (parts[3] ?? "").padEnd(NANO_DIGITS, "0"));
  return parts[1] ? -magnitude : magnitude;
}

export const sum = (amounts: Iterable<string>): bigint => {
  let total = 0n;
  for (const amount of amounts) total += nano(amount);
  return total;
};

/** The exact decimal again, without trailing zeros but with at least cents. */
export function exact(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(NANO_DIGITS + 1, "0");
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, "").padEnd(2, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -NANO_DIGITS)}.${fraction}`;
}

export const group = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ",");

/** As the terminal report prints it: cents, or three significant digits under a dollar; half away from zero. */
export function display(amount: bigint): string {
  const sign = amount < 0n ? "\u2212$" : "$";
  const magnitude = amount < 0n ? -amount : amount;
  if (magnitude === 0n) return "$0.00";
  if (magnitude < 999_500_000n) {
    let unit = 1n;
    while (magnitude / unit >= 1000n) unit *= 10n;
    return sign + exact(((magnitude + unit / 2n) / unit) * unit);
  }
  const cents = (magnitude + 5_000_000n) / 10_000_000n;
  return `${sign}${group((cents / 100n).toString())}.${(cents % 100n).toString().padStart(2, "0")}`;
}

/** Where on a chart an amount lies. A length in pixels, never printed. */
export const position = (amount: bigint): number => Number(amount) / 1e9;
