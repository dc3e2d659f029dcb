// The report page in a real browser: its numbers are the JSON's, it fits, it can be read and worked by everyone, and it
// asks the network for nothing.
//   node report_page_test.mjs --ui DIR [--page FILE] [--shots DIR] [-- ace analyze TRACE --fleet FLEET ...]
// DIR has node_modules with playwright-core. With a command, the page and its JSON are what that command writes.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import * as check from "./report_page_checks.mjs";
import { embed, sample } from "./report_page_sample.mjs";

const split = process.argv.indexOf("--");
const command = split < 0 ? [] : process.argv.slice(split + 1);
const options = Object.fromEntries((split < 0 ? process.argv : process.argv.slice(0, split)).slice(2).flatMap((word, i, all) => (word.startsWith("--") ? [[word.slice(2), all[i + 1]]] : [])));
if (!options.ui) {
  console.error("report_page_test.mjs: --ui DIR is missing: the folder with package.json and node_modules");
  process.exit(2);
}
const ui = path.resolve(options.ui);
const { chromium } = createRequire(path.join(ui, "package.json"))("playwright-core");
const built = fs.readFileSync(options.page ?? path.join(ui, "dist/report.html"), "utf8");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "report_page_"));

let passed = 0, failed = 0;
async function test(name, body) {
  try {
    await body();
    ++passed;
    console.log(`PASS ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAIL ${name}: ${error.message}`);
  }
}
const expect = (condition, message) => {
  if (!condition) throw new Error(message);
};

/** A report with nothing optional in it: every list empty, every share without a denominator. */
function bare() {
  const report = sample();
  for (const key of ["supply_curves", "slo_classes"]) delete report[key];
  report.coverage = { ...report.coverage, priced_share: null, excluded: [], not_replayed: [], rows_skipped: [] };
  Object.assign(report.headline, { counted_saving_share: null, counted_marginal_saving_share: null });
  Object.assign(report.service, { served_share: null, slo_share: null, not_served: [] });
  Object.assign(report.goodput, { tokens_per_avoidable_usd: null, tokens_per_fully_loaded_usd: null });
  Object.assign(report.gates, { by_reason: [], failing: [], failed_cells: 0 });
  Object.assign(report.settlement, { clearing: [], adjustments: [] });
  Object.assign(report, { baselines: report.baselines.slice(0, 1), fixed_cost: [], bounds: null, knees: [], chargeback: [], assumptions: [] });
  report.sensitivity.rows = [];
  for (const key of ["requests", "tokens", "marginal_usd"]) report.series[key] = report.series[key].map(() => []);
  for (const key of ["arrived", "arrived_tokens", "served", "slo_met", "not_served"]) report.series[key] = [];
  return report;
}

function write(name, html) {
  const file = path.join(work, `${name}.html`);
  fs.writeFileSync(file, html);
  return pathToFileURL(file).href;
}

const reports = {};
if (command.length) {
  const file = path.join(work, "command.html");
  const json = execFileSync(command[0], [...command.slice(1), "--json", "--html", file], { maxBuffer: 1 << 30, timeout: 240_000, stdio: ["ignore", "pipe", "inherit"] }).toString();
  const html = fs.readFileSync(file, "utf8");
  await test("the page of ace analyze holds the JSON that --json prints, with < escaped", () => {
    const block = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(html)[1];
    expect(block.trim() === json.trim().replace(/</g, "\\u003c"), "the two differ");
  });
  reports.command = { report: JSON.parse(json), url: pathToFileURL(file).href };
} else {
  for (const [name, report] of Object.entries({ week: sample(), eight: sample({ bars: "eight", seed: 11 }), loss: sample({ bars: "loss", seed: 5 }), bare: bare() }))
    reports[name] = { report, url: write(name, embed(built, report)) };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  timeout: 120_000,
});

/** Opens a page, runs the body, and fails on whatever the browser complained of or asked for. */
async function view(url, { width, theme }, body) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => request.url() !== url && !request.url().startsWith("data:") && complaints.push(`asked for ${request.url()}`));
  try {
    await page.goto(url);
    await body(page);
    expect(!complaints.length, complaints.join("; "));
  } finally {
    await context.close();
  }
}

async function fits(page) {
  const { wide, room } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, room: document.documentElement.clientWidth }));
  expect(wide <= room, `the page is ${wide} px wide in a window of ${room}`);
}

/** Text whose colour is too near to what lies behind it (WCAG 2.1, 1.4.3: 4.5 to 1). */
const faint = (page) =>
  page.evaluate(() => {
    const channels = (colour) => (/^rgba?\(([^)]*)\)$/.exec(colour)?.[1] ?? "0,0,0,0").split(",").map(Number);
    const light = ([r, g, b]) => [r, g, b].map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const [r, g, b, a = 1] = channels(getComputedStyle(at).backgroundColor);
        if (a === 1) return [r, g, b];
      }
      return [255, 255, 255];
    };
    const found = new Set();
    for (const element of document.querySelectorAll("body *")) {
      if (!element.getClientRects().length || element.closest("[aria-hidden=true], .quiet, script, style, svg, noscript")) continue;
      if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
      const [a, b] = [light(channels(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
      if ((a + 0.05) / (b + 0.05) < 4.5) found.add(`${element.tagName}.${element.className} "${element.textContent.slice(0, 20)}" ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
    }
    return [...found];
  });

/** Every key of a report, as paths: "gates.failing[].hour". */
function paths(value, at = "") {
  if (Array.isArray(value)) return value.flatMap((item) => paths(item, `${at}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`${at}.${key}`, ...paths(inner, `${at}.${key}`)]);
}
await test("docs/REPORT.md names every key, and the sample has them all", () => {
  const guide = fs.readFileSync(new URL("../docs/REPORT.md", import.meta.url), "utf8");
  const known = new Set(paths(sample({ bars: "eight" })));
  for (const { report } of Object.values(reports))
    for (const key of new Set(paths(report))) {
      expect(guide.includes(`\`${key.split(".").pop().replace(/\[\]/g, "")}`) || guide.includes(`.${key.split(".").pop()}\``), `docs/REPORT.md does not name ${key}`);
      expect(known.has(key), `report_page_sample.mjs does not have ${key}`);
    }
});

const VIEWS = { eight: [[1280, "light"]], loss: [[390, "light"]], bare: [[390, "dark"]] };
const EVERY_VIEW = [1280, 390].flatMap((width) => ["light", "dark"].map((theme) => [width, theme]));
for (const [name, { report, url }] of Object.entries(reports)) {
  for (const [width, theme] of VIEWS[name] ?? EVERY_VIEW) {
    await test(`says what the JSON says, fits and can be read (${name}, ${width} px, ${theme})`, () =>
      view(url, { width, theme }, async (page) => {
        expect((await page.evaluate(() => document.documentElement.dataset.theme)) === theme, "not the theme of the system");
        await fits(page);
        const dim = await faint(page);
        expect(!dim.length, `too faint: ${dim.slice(0, 5).join("; ")}`);
        if (options.shots) await page.screenshot({ path: path.join(options.shots, `${name}-${width}-${theme}.png`), fullPage: true });
        for (const part of ["coverage", "headline", "waterfall", "levers", "realised", "places", "gates", "chargeback", "limits", "charts"]) await check[part](page, report);
        await fits(page);
      }));
  }
}

const main = Object.values(reports)[0];
const desk = { width: 1280, theme: "light" };

await test("tables sort by keyboard, amounts as integers", () =>
  view(main.url, desk, async (page) => {
    await page.getByRole("button", { name: "By destination" }).click();
    const caption = "Chargeback by destination";
    const lines = main.report.chargeback;
    const totals = new Map();
    for (const line of lines) totals.set(line.destination, (totals.get(line.destination) ?? 0n) + check.nano(line.baseline_usd));
    const amounts = [...totals.values()].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, 15);
    const header = page.locator("#chargeback th button", { hasText: "Baseline" });
    const direction = () => header.evaluate((button) => button.closest("th").getAttribute("aria-sort"));
    await header.focus();
    await page.keyboard.press("Enter");
    expect((await direction()) === "descending", `Enter: ${await direction()}`);
    (await check.table(page, caption)).body.forEach((row, i) => check.isAmount(row[5], amounts[i], `place ${i}`));
    await page.keyboard.press("Space");
    expect((await direction()) === "ascending", `Space: ${await direction()}`);
    const up = [...totals.values()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).slice(0, 15);
    (await check.table(page, caption)).body.forEach((row, i) => check.isAmount(row[5], up[i], `place ${i} upwards`));
    const name = page.locator("#chargeback th button", { hasText: "Destination" });
    await name.click();
    const names = (await check.table(page, caption)).body.map((row) => (row[0] === "(none)" ? "" : row[0]));
    expect(names.join() === [...names].sort().join(), `by name: ${names.join()}`);
  }));

await test("the keyboard reaches everything, the skip link first, and focus shows", () =>
  view(main.url, desk, async (page) => {
    await page.keyboard.press("Tab");
    expect((await page.evaluate(() => document.activeElement.className)) === "skip", "the first stop is not the skip link");
    await page.keyboard.press("Tab");
    const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    expect(ring !== "none", "focus does not show");
    await page.keyboard.press("Enter");
    // A large page draws again after the key press, not within it.
    const soon = (condition, what) =>
      page.waitForFunction(condition, null, { timeout: 10_000 }).catch(() => expect(false, what));
    await soon(() => document.documentElement.dataset.theme === "dark", "the theme did not change");
    const chart = page.locator("#load svg").first();
    await chart.focus();
    await page.keyboard.press("Home");
    await soon(() => /tok\/s/.test(document.querySelector("#load .readout")?.innerText ?? ""), "arrow keys do not read the chart");
  }));

await test("charts and controls have names", () =>
  view(main.url, desk, async (page) => {
    const nameless = await page.evaluate(() => [
      ...[...document.querySelectorAll("svg")].filter((svg) => svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-label")),
      ...[...document.querySelectorAll("button, a, select, summary")].filter((control) => !(control.getAttribute("aria-label") ?? control.closest("label")?.textContent ?? control.textContent).trim()),
      ...[...document.querySelectorAll("table")].filter((table) => !table.caption?.textContent),
      ...[...document.querySelectorAll("figure")].filter((figure) => !figure.querySelector("details, table")),
      ...[...document.querySelectorAll("section")].filter((section) => !document.getElementById(section.getAttribute("aria-labelledby"))),
    ].map((element) => element.outerHTML.slice(0, 80)));
    expect(!nameless.length, nameless.join("; "));
    const headings = await page.evaluate(() => [...document.querySelectorAll("h1, h2, h3")].map((h) => Number(h.tagName[1])));
    headings.forEach((level, i) => expect(i === 0 ? level === 1 : level <= headings[i - 1] + 1, "a heading level is skipped"));
  }));

await test("prints on white, without its controls", () =>
  view(main.url, { width: 1280, theme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(paper === "rgb(255, 255, 255)", `on ${paper}`);
    expect(!(await page.locator("nav").isVisible()) && !(await page.locator(".tools").isVisible()), "controls are printed");
    const pdf = await page.pdf({ format: "A4" });
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    expect(pages >= 2 && pages <= 40, `${pages} pages`);
    if (options.shots) fs.writeFileSync(path.join(options.shots, "print.pdf"), pdf);
  }));

if (!command.length) {
  await test("names are text, whatever they contain", () =>
    view(reports.week.url, desk, async (page) => {
      expect((await page.evaluate(() => window.broken)) === undefined, "data ran as a script");
      expect((await page.locator("img").count()) === 0, "data became markup");
      const { body } = await check.table(page, "Chargeback by tenant");
      expect(body.some((row) => row[0] === "</script><script>window.broken=1</script>"), "the name is not shown as it is");
    }));
  for (const [name, data, says] of [["no report", '"__ACE_REPORT__"', "holds no report"], ["another schema", '{"schema":"ace.report/9"}', "ace.report/9"], ["broken JSON", "{", "not JSON"]])
    await test(`says what is wrong with ${name}`, () =>
      view(write("wrong", built.replace('"__ACE_REPORT__"', data)), desk, async (page) => {
        expect((await page.locator("main").innerText()).includes(says), await page.locator("main").innerText());
      }));
}

await browser.close();
fs.rmSync(work, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
