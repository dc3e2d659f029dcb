// What must be true of the page that shows a report. Reads the page as a person does, from its visible text, and holds
// it against the JSON with integer arithmetic of its own: nothing here is shared with ui/src.

/** Nano-units of an exact decimal. */
export function nano(decimal) {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal);
  if (!parts || (parts[3] ?? "").length > 9) throw new Error(`not an exact decimal: ${decimal}`);
  return BigInt(`${parts[1]}${parts[2]}${(parts[3] ?? "").padEnd(9, "0")}`);
}
export const total = (decimals) => decimals.reduce((sum, decimal) => sum + nano(decimal), 0n);

function expect(condition, message) {
  if (!condition) throw new Error(message);
}
function same(got, want, what) {
  expect(String(got) === String(want), `${what}: the page says "${got}", the report "${want}"`);
}

/** A printed amount is its exact one, rounded to the places shown: cents, or three digits under a dollar. */
export function isAmount(shown, want, what) {
  const exact = typeof want === "bigint" ? want : nano(want);
  const text = shown.trim().replace(/\u2212/g, "-").replace(/[$,+]/g, "");
  expect(/^-?\d+\.\d{2,9}$/.test(text) && shown.includes("$"), `${what}: "${shown}" is not an amount`);
  const places = text.split(".")[1].length;
  const unit = 10n ** BigInt(9 - places);
  const off = nano(text) - exact;
  expect((off < 0n ? -off : off) * 2n <= unit, `${what}: "${shown}" is not ${want} rounded`);
  const magnitude = exact < 0n ? -exact : exact;
  expect(magnitude >= 999_500_000n ? places === 2 : magnitude === 0n || magnitude * 1000n >= unit * 100n || places >= 3,
    `${what}: "${shown}" shows too few digits of ${want}`);
}
export function isPercent(shown, share, what) {
  if (share === null) return same(shown.trim(), "n/a", what);
  const text = shown.trim().replace(/\u2212/g, "-");
  if (text === ">99.99%") return expect(share > 0.9999 && share < 1, `${what}: "${shown}" for ${share}`);
  expect(/^-?\d+(\.\d+)?%$/.test(text), `${what}: "${shown}" is not a percentage`);
  const places = (text.split(".")[1] ?? "%").length - 1;
  expect(Math.abs(parseFloat(text) - share * 100) <= 0.5 * 10 ** -places + 1e-9, `${what}: "${shown}" for ${share}`);
}
export function isCount(shown, value, what) {
  same(shown.trim().replace(/,/g, ""), String(value), what);
}
/** Three significant digits with a letter. */
function isCompact(shown, value, what) {
  const parts = /^(\u2212?)([\d.]+)([kMGT]?)$/.exec(shown.trim());
  expect(parts, `${what}: "${shown}" is not a number`);
  const got = Number(parts[2]) * { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 }[parts[3]];
  expect(Math.abs(got - Math.abs(value)) <= Math.max(Math.abs(value) * 0.0051, 0.0051), `${what}: "${shown}" for ${value}`);
}

/** An estimated price: three significant digits. */
function isEstimate(shown, value, what) {
  const got = Number(shown.trim().replace("\u2212", "-").replace(/[$,]/g, ""));
  expect(Math.abs(got - value) <= Math.abs(value) * 0.0051, `${what}: "${shown}" for ${value}`);
}

/** The cells of the table with this caption, top row first. */
export async function table(page, caption) {
  return page.evaluate((name) => {
    const found = [...document.querySelectorAll("caption")].find((c) => c.textContent === name);
    if (!found) throw new Error(`no table "${name}"`);
    const rows = (part) => [...found.parentElement.querySelectorAll(`${part} tr`)].map((row) => [...row.cells].map((cell) => cell.innerText.trim()));
    return { head: rows("thead")[0], body: rows("tbody"), foot: rows("tfoot")[0] ?? [] };
  }, caption);
}
const text = (page, selector) => page.locator(selector).first().innerText();
const fact = (page, section, name) =>
  page.evaluate(([id, label]) => {
    const found = [...document.querySelectorAll(`#${id} .fact`)].find((f) => f.querySelector("dt").textContent.startsWith(label));
    if (!found) throw new Error(`no fact "${label}"`);
    const note = found.querySelector("small");
    return { value: (found.querySelector("dd > data") ?? found.querySelector("dd").firstChild).textContent, note: note ? note.textContent : "" };
  }, [section, name]);

export async function coverage(page, { coverage: c }) {
  isPercent(await text(page, "#coverage .figure"), c.priced_share, "priced share");
  const sentence = (await text(page, "#coverage .covered")).replace(/,(?=\d)/g, "");
  for (const value of [c.priced_requests, c.requests_considered, c.requests, c.rows]) expect(new RegExp(`\\b${value}\\b`).test(sentence), `coverage does not say ${value}`);
  const above = await page.evaluate(() => document.querySelector("#coverage").compareDocumentPosition(document.querySelector("#saving")) & 4);
  expect(above, "coverage does not stand above the headline");
  const lost = [...c.excluded, ...c.not_replayed, ...c.rows_skipped];
  if (!lost.length) return;
  const { body } = await table(page, "What the saving leaves out, and why");
  same(body.length, lost.length, "rows of what is left out");
  lost.forEach((row, i) => isCount(body[i][2], row.requests ?? row.rows, "left out"));
  c.excluded.forEach((row, i) => (isAmount(body[i][4], row.cost_usd, row.reason), isPercent(body[i][5], row.share_of_baseline, row.reason)));
}

export async function headline(page, report) {
  const h = report.headline;
  isAmount(await text(page, "#saving .first .big"), h.counted_saving_usd, "counted saving");
  isPercent(await text(page, "#saving .first .against b"), h.counted_saving_share, "counted saving share");
  expect((await text(page, "#saving .first .against")).includes(h.baseline), "a percentage without its baseline's name");
  expect((await text(page, "#saving .grade")).includes(h.grade), "no grade");
  const servers = await page.locator("#saving .first .meaning").allInnerTexts();
  same(servers.length, h.other_servers.length, "how fast servers are stands beside the headline");
  h.other_servers.forEach((row, i) => expect(servers[i].includes(row.what), `not beside the headline: ${row.what}`));
  const exact = await page.locator("#saving .first .big data").getAttribute("value");
  same(exact, h.counted_saving_usd, "exact value of the headline");
  const other = report.baselines.find((b) => b.baseline !== h.baseline && b.baseline === "status-quo") ?? report.baselines.find((b) => b.baseline === "all-payg" && b.baseline !== h.baseline);
  if (other) {
    isAmount(await text(page, "#saving .second .big"), other.counted_saving_usd, "second baseline");
    isPercent(await text(page, "#saving .second .against b"), other.counted_saving_share, "second baseline");
    expect((await text(page, "#saving .second .against")).includes(other.baseline), "a percentage without its baseline's name");
  }
  for (const [name, key] of [["Baseline,", "baseline_usd"], ["Actual cost", "actual_fully_loaded_usd"], ["Claimed", "claimed_saving_usd"], ["Marginal view", "counted_marginal_saving_usd"]])
    isAmount((await fact(page, "saving", name)).value, h[key], key);
  const { body } = await table(page, "The same run against each baseline");
  same(body.length, report.baselines.length, "baselines");
  report.baselines.forEach((b, i) => {
    same(body[i][0], b.baseline, "baseline");
    ["baseline_usd", "claimed_saving_usd", "counted_saving_usd"].forEach((key, c) => isAmount(body[i][c + 1], b[key], `${b.baseline} ${key}`));
    isPercent(body[i][4], b.counted_saving_share, b.baseline);
  });
}

export async function waterfall(page, report) {
  const bars = await page.evaluate(() =>
    [...document.querySelectorAll(".waterfall li")].map((li) => ({
      name: li.querySelector(".name").firstChild.textContent,
      amount: li.querySelector(".amount").innerText,
      parts: [...li.querySelectorAll(".bar")].map((bar) => {
        const box = bar.getBoundingClientRect();
        const body = li.querySelector(".body").getBoundingClientRect();
        return { kind: bar.className.split(" w-")[1], size: body.height > body.width ? box.height / body.height : box.width / body.width };
      }),
      wide: li.querySelector(".body").getBoundingClientRect().height,
    })),
  );
  same(bars.length, report.waterfall.length, "bars");
  let level = 0n, low = 0n, high = 0n;
  const counted = new Map([...report.levers.map((l) => [l.lever, nano(l.counted_usd)]), ["unattributed", nano(report.unattributed.counted_usd)]]);
  const reach = (value) => ((low = value < low ? value : low), (high = value > high ? value : high));
  for (const bar of report.waterfall) {
    const from = bar.total ? 0n : level;
    level = from + nano(bar.usd);
    [from, level, counted.has(bar.bar) ? from - counted.get(bar.bar) : from].forEach(reach);
  }
  same(level, report.waterfall.length ? nano(report.waterfall.at(-1).usd) : 0n, "where the walk ends");
  report.waterfall.forEach((bar, i) => {
    same(bars[i].name, bar.bar, "bar");
    isAmount(bars[i].amount, bar.usd, bar.bar);
    if (!bar.total) expect(/^[+\u2212]/.test(bars[i].amount) || nano(bar.usd) === 0n, `${bar.bar}: no sign`);
    const part = (kind) => bars[i].parts.find((p) => p.kind === kind)?.size ?? 0;
    const near = (kind, amount) => {
      const want = Math.abs(Number(amount)) / Number(high - low);
      expect(Math.abs(part(kind) - want) < 0.008, `${bar.bar}: ${kind} is ${part(kind).toFixed(4)} of the picture, not ${want.toFixed(4)}`);
    };
    if (bar.total) near("total", nano(bar.usd));
    else if (counted.has(bar.bar)) {
      near(counted.get(bar.bar) < 0n ? "cost" : "counted", counted.get(bar.bar));
      near("disallowed", -nano(bar.usd) - counted.get(bar.bar));
    } else if (bar.idle_usd) near("idle", nano(bar.idle_usd));
  });
}

export async function levers(page, report) {
  const { body, foot } = await table(page, "Levers: claimed, disallowed, counted and Shapley");
  const keys = ["claimed_usd", "disallowed_usd", "counted_usd", "shapley_usd", "shapley_low_usd", "shapley_high_usd"];
  report.levers.forEach((lever, i) => {
    same(body[i][0], lever.lever, "lever");
    keys.forEach((key, c) => isAmount(body[i][c + 1], lever[key], `${lever.lever} ${key}`));
  });
  isAmount(foot[1], total(report.levers.map((l) => l.claimed_usd)) + nano(report.unattributed.claimed_usd), "levers claimed");
  isAmount(foot[3], total(report.levers.map((l) => l.counted_usd)) + nano(report.unattributed.counted_usd), "levers counted");
}

export async function realised(page, report) {
  if (!report.realised) return same(await page.locator("#realised").count(), 0, "no spine, no section");
  const { body } = await table(page, "Requests that were served, by model and destination");
  const rows = [{ model: "all", destination: "all", ...report.realised.total }, ...report.realised.by_destination];
  same(body.length, Math.min(15, rows.length), "predicted against realised");
  rows.slice(0, 15).forEach((row, i) => {
    same(body[i][0], row.model, "model");
    ["realised", "predicted"].forEach((side, s) => {
      isCount(body[i][2 + s], row[side].served, `${row.destination} ${side}`);
      isAmount(body[i][4 + s], row[side].marginal_usd, `${row.destination} ${side}`);
      if (row[side].ttft_s_p95 === null) same(body[i][10 + s], "n/a", "a time that is not known");
    });
  });
}

export async function places(page, report) {
  const { body, foot } = await table(page, "Destinations");
  same(body.length, Math.min(15, report.destinations.length), "destinations");
  report.destinations.slice(0, 15).forEach((d, i) => {
    [d.destination, d.tier === "payg" ? "pay as you go" : d.tier.replace("_", " "), d.provider, d.region].forEach((want, c) => same(body[i][c], want, "destination"));
    if (d.tier !== "payg") isPercent(body[i][4], d.used_share, d.destination);
    isCount(body[i][5], d.requests, d.destination);
    isCount(body[i][6], d.tokens, d.destination);
    isAmount(body[i][7], d.marginal_usd, d.destination);
    isAmount(body[i][8], d.fixed_usd, d.destination);
  });
  isAmount(foot[7], total(report.destinations.map((d) => d.marginal_usd)), "marginal of all");
  if (report.fixed_cost.length) {
    const fixed = await table(page, "Fixed cost by destination");
    report.fixed_cost.forEach((line, i) => (isAmount(fixed.body[i][2], line.used_usd, "used"), isAmount(fixed.body[i][3], line.idle_usd, "idle")));
  }
  if (report.knees.length) {
    const knees = await table(page, "Knees, as a share of the cap");
    report.knees.slice(0, 15).forEach((k, i) => (isPercent(knees.body[i][3], k.prior_share_of_cap, k.destination), isPercent(knees.body[i][4], k.fitted_share_of_cap, k.destination)));
  }
}

export async function gates(page, { gates: g, headline: h }) {
  isCount((await fact(page, "gates", "Cells that failed")).value, g.failed_cells, "failed cells");
  isAmount((await fact(page, "gates", "Disallowed")).value, h.disallowed_usd, "disallowed");
  if (g.by_reason.length) {
    const { body } = await table(page, "Disallowed by reason");
    same(body.length, g.by_reason.length, "reasons");
    g.by_reason.forEach((r, i) => (isCount(body[i][1], r.requests, r.reason), isAmount(body[i][2], r.disallowed_usd, r.reason)));
  }
  if (!g.failing.length) return;
  if (g.failing.length > 15) await page.locator("#gates .more").click();
  const { body } = await table(page, "Failing cells");
  same(body.length, g.failing.length, "failing cells");
  g.failing.forEach((cell, i) => {
    same(body[i][1], cell.tenant || "(none)", "tenant");
    same(body[i][2], cell.model, "model");
    isCount(body[i][4], cell.requests, "requests");
    isPercent(body[i][5], cell.served_share, "served");
    isPercent(body[i][6], cell.slo_share, "SLO met");
    isAmount(body[i][7], cell.disallowed_usd, "disallowed");
  });
}

export async function chargeback(page, { chargeback: lines, settlement }) {
  for (const key of ["team", "model", "destination", "tenant"]) {
    await page.getByRole("button", { name: `By ${key}` }).click();
    const { body, foot } = await table(page, `Chargeback by ${key}`);
    const names = new Set(lines.map((line) => line[key]));
    same(body.length, Math.min(15, names.size), `rows by ${key}`);
    for (const row of body) {
      const mine = lines.filter((line) => (line[key].trim() || "(none)") === row[0]);
      expect(mine.length, `nobody is called "${row[0]}"`);
      ["total_usd", "charged_usd", "fixed_usd", "idle_usd", "baseline_usd"].forEach((k, c) => isAmount(row[c + 1], total(mine.map((line) => line[k])), `${row[0]} ${k}`));
      isCount(row[6], mine.reduce((sum, line) => sum + line.requests, 0), row[0]);
    }
    if (lines.length) isAmount(foot[1], total(lines.map((line) => line.total_usd)), "everything charged");
  }
  await page.getByRole("button", { name: "Every line" }).click();
  if (lines.length > 15) await page.locator("#chargeback .more").first().click();
  const { body } = await table(page, "Chargeback, every line");
  same(body.length, lines.length, "lines");
  const amounts = body.map((row) => row[4]).join("|");
  const want = [...lines].sort((a, b) => (nano(a.total_usd) < nano(b.total_usd) ? 1 : nano(a.total_usd) > nano(b.total_usd) ? -1 : 0));
  want.forEach((line, i) => isAmount(body[i][4], line.total_usd, `line ${i} of ${amounts.length} characters`));
  await page.getByRole("button", { name: "By tenant" }).click();
  isAmount(await text(page, "#chargeback .line dd"), settlement.idle_reserved_usd, "idle reserved");
}

export async function limits(page, report) {
  const { sensitivity, bounds, assumptions } = report;
  for (const row of sensitivity.rows) {
    const shown = `${row.change < 0 && Math.abs(row.change) >= 0.0005 ? "\u2212" : Math.abs(row.change) < 0.0005 ? "" : "+"}${Math.abs(row.change * 100).toFixed(1)} pt`;
    expect((await text(page, ".tornado")).includes(shown), `the tornado lacks "${row.what}" at ${shown}`);
  }
  if (bounds) {
    isPercent((await fact(page, "bounds", "Of what any dispatch")).value, bounds.dispatch_share_of_possible, "dispatch bound");
    isPercent((await fact(page, "bounds", "Of what any plan")).value, bounds.plan_share_of_possible, "plan bound");
  }
  same((await page.locator(".assumptions li").allInnerTexts()).join("\n"), assumptions.join("\n"), "assumptions");
}

/** Opens what is folded and waits until it is drawn. */
export async function openTables(page) {
  await page.evaluate(() => document.querySelectorAll("details:not([open]) > summary").forEach((summary) => summary.click()));
  await page.waitForFunction(() => [...document.querySelectorAll("details")].every((part) => part.open && part.querySelector("table")));
}

/** Opens each chart's table and holds it against the series. */
export async function charts(page, report) {
  const { series } = report;
  await openTables(page);
  for (const c of (report.supply_curves ?? []).filter((curve) => curve.model === [...report.supply_curves].sort((a, b) => b.load_tokens_per_s - a.load_tokens_per_s)[0].model)) {
    const { body } = await table(page, `Supply curve of ${c.model} at ${c.at} load`);
    c.steps.forEach((step, i) => (same(body[i][0], step.destination, "step"), isEstimate(body[i][4], step.usd_per_mtok, step.destination), step.tokens_per_s !== null && isCompact(body[i][5].replace(" tok/s", ""), step.tokens_per_s, step.destination)));
  }
  if (!series.arrived.length) return;
  const rates = series.arrived.map((_, b) => series.tokens.reduce((sum, tokens) => sum + tokens[b], 0) / series.bucket_seconds);
  const over = await table(page, "Dispatch over time");
  same(over.body.length, rates.length, "intervals");
  rates.forEach((rate, b) => isCompact(over.body[b].at(-1), rate, `dispatch, interval ${b}`));
  const duration = await table(page, "Load-duration curve");
  [...rates].sort((a, b) => b - a).forEach((rate, b) => isCompact(duration.body[b].at(-1), rate, `load-duration, place ${b}`));
  const slo = await table(page, "SLO attainment over time");
  series.served.forEach((served, b) => (isCount(slo.body[b][2], served, "served"), isPercent(slo.body[b][4], served ? series.slo_met[b] / served : null, "attainment")));
}
