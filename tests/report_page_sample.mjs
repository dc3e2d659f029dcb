// A report with the keys of src/report/json.cc and made-up numbers that add up as the ledger's do: the test of the page
// needs no binary. Seeded, so the same bytes every time. `node report_page_sample.mjs > report.json` prints one.
import { pathToFileURL } from "node:url";

/** A small generator of our own (mulberry32): the same numbers on every machine. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Nano-dollars to the exact decimal that the ledger prints. */
function usd(nano) {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "").padEnd(2, "0");
  return `${nano < 0n ? "-" : ""}${digits.slice(0, -9)}.${fraction}`;
}
const share = (part, whole) => (whole > 0 ? Number(part) / Number(whole) : null);
const sum = (amounts) => amounts.reduce((a, b) => a + b, 0n);

const DESTINATIONS = [
  ["dc-h100-a", "owned", "acme", "eu-west", 30_000, 24_000],
  ["dc-h100-b", "owned", "acme", "eu-west", 22_000, 17_500],
  ["ptu-llama-70b", "reserved", "azure", "swedencentral", 15_000, 15_000],
  ["spot-a100", "spot", "lambda", "us-east", 12_000, 9_000],
  ["od-h100", "on_demand", "runpod", "us-west", 10_000, 8_200],
  ["together-llama", "payg", "together", "us", null, null],
  ["azure-llama", "payg", "azure", "swedencentral", null, null],
];
const PRICES = [0.031, 0.034, 0.04, 0, 0, 0.59, 0.71];
const MODELS = ["llama-3.3-70b", "qwen-2.5-7b"];
// Names are data: none of these may become markup, close the script or break a line.
export const HOSTILE = ["</script><script>window.broken=1</script>", "<img src=x onerror=window.broken=1>", "\u2028 & \"quotes\" 'too'"];
const TENANTS = ["search", "support-bot", "research", "code-assist", "t_7kq2m5zc3a", HOSTILE[0]];

/**
 * @param options.bars   "eight" adds an unattributed bar, "loss" makes a report that saves nothing
 * @param options.seed   of every number
 */
export function sample({ bars = "seven", seed = 7 } = {}) {
  const next = random(seed);
  const start = Date.UTC(2024, 4, 13), width = 1800, buckets = 336;
  const money = (dollars) => BigInt(Math.round(dollars * 1e6)) * 1000n + BigInt(Math.floor(next() * 1000));

  const tokens = DESTINATIONS.map(() => []), requests = DESTINATIONS.map(() => []), cost = DESTINATIONS.map(() => []);
  const series = { arrived: [], arrived_tokens: [], served: [], slo_met: [], not_served: [] };
  for (let b = 0; b < buckets; ++b) {
    const hour = (b * width) / 3600, weekend = Math.floor(hour / 24) >= 5;
    const daily = 0.5 - 0.5 * Math.cos(((hour - 3) / 24) * 2 * Math.PI);
    let rate = (weekend ? 0.5 : 1) * (16_000 + 78_000 * daily ** 1.6) * (0.9 + 0.2 * next()) + (b % 97 === 40 ? 45_000 : 0);
    let arrivedRequests = 0, arrivedTokens = 0, met = 0;
    DESTINATIONS.forEach(([, tier, , , , knee], d) => {
      const room = knee === null ? (d === 5 ? rate * 0.7 : rate) : knee * (tier === "spot" && b % 53 < 6 ? 0.2 : 0.96 + 0.03 * next());
      const used = Math.max(0, Math.min(rate, room));
      rate -= used;
      const t = Math.round(used * width), r = Math.round(t / 1450);
      tokens[d].push(t);
      requests[d].push(r);
      cost[d].push((BigInt(t) * BigInt(Math.round(PRICES[d] * 1000))));
      arrivedRequests += r;
      arrivedTokens += t;
      met += Math.round(r * (used > room * 0.94 && knee !== null ? 0.9925 + 0.006 * next() : 0.9985));
    });
    const lost = b === 137 ? Math.round(arrivedRequests * 0.012) : 0;
    series.arrived.push(arrivedRequests + lost);
    series.arrived_tokens.push(arrivedTokens);
    series.served.push(arrivedRequests);
    series.slo_met.push(Math.min(arrivedRequests, b % 97 === 40 ? Math.round(met * 0.962) : met));
    series.not_served.push(lost);
  }
  const total = (list) => list.reduce((a, b) => a + b, 0);
  const served = total(series.served), arrived = total(series.arrived), met = total(series.slo_met);
  const allTokens = total(tokens.map(total));

  const scale = bars === "loss" ? 0.05 : 1;
  const claimed = [1204.18, 0, 3120.55, 21_877.4].map((v) => money(v * scale));
  claimed[1] = bars === "loss" ? -money(12.5) : money(846.21);
  const disallowed = [money(31.02 * scale), money(612.9 * scale), money(88.4 * scale), money(1207.33 * scale)];
  const counted = claimed.map((c, i) => c - disallowed[i]);
  const unattributed = bars === "eight" ? -money(140.25) : 0n;
  const used = money(6120.4), idle = money(3411.87), fixed = used + idle;
  const marginal = sum(cost.map((c) => sum(c)));
  const baseline = marginal + sum(claimed) + unattributed;
  const excluded = money(310.77);
  const denominator = baseline - excluded;
  const ratio = (part, whole) => share(Number(part), Number(whole));

  const lever = ["caching", "routing", "arbitrage", "utilization"];
  const spread = claimed.map((c) => [c - c / 9n, c + c / 12n].sort((a, b) => (a < b ? -1 : 1)));
  const chargeback = [];
  const modelOf = (d, t) => MODELS[(t + d) % 3 === 0 ? 1 : 0];
  TENANTS.forEach((tenant, t) =>
    DESTINATIONS.forEach(([destination], d) => {
      const part = (1 + ((t * 5 + d * 3) % 7)) / (4 * TENANTS.length);
      const output = Math.round(total(tokens[d]) * part * 0.16);
      const charged = (sum(cost[d]) * BigInt(Math.round(part * 1e6))) / 1_000_000n;
      const f = d < 5 ? money(80 * part + 3) : 0n, i = d < 5 ? money(41 * part) : 0n;
      chargeback.push({
        tenant, team: t % 2 ? "platform" : HOSTILE[2], model: modelOf(d, t), destination,
        requests: Math.round(total(requests[d]) * part), input_tokens: output * 5, cached_tokens: output, output_tokens: output,
        baseline_usd: usd(charged * 3n + 1n), marginal_usd: usd(charged), charged_usd: usd(charged), fixed_usd: usd(f), idle_usd: usd(i),
        total_usd: usd(charged + f + i),
      });
    }),
  );
  chargeback.push({ ...chargeback[0], tenant: "", team: "", destination: "", requests: 3, baseline_usd: "0.00", marginal_usd: "0.000000412", charged_usd: "0.000000412", fixed_usd: "0.00", idle_usd: "0.00", total_usd: "0.000000412" });

  const failing = Array.from({ length: 40 }, (_, i) => ({
    hour: new Date(start + (i * 5 + 9) * 3_600_000).toISOString().replace(".000Z", "Z"),
    tenant: TENANTS[i % TENANTS.length], model: MODELS[i % 2], reason: i % 3 ? "cell_slo" : "cell_served_fraction",
    requests: 600 + ((i * 7919) % 4000), served_share: i % 3 ? 1 : 0.9961, slo_share: 0.95 + 0.0389 * next(), judged_by_day: i % 11 === 0,
    disallowed_usd: usd(money(4 + 60 * next())),
  }));
  const curve = (model, at, load) => {
    const offers = DESTINATIONS.map(([destination, tier, , , cap, knee], d) => ({ destination, tier, cap, knee, price: PRICES[d] }));
    const blocks = offers.filter((_, d) => model === MODELS[0] || d % 2 === 0).flatMap((o) => {
      const step = (beyond_knee, usd_per_mtok, tokens_per_s) => ({ destination: o.destination, model, tier: o.tier, beyond_knee, usd_per_mtok, tokens_per_s, knee_tokens_per_s: o.knee, cap_tokens_per_s: o.cap });
      return o.cap > o.knee ? [step(false, o.price, o.knee), step(true, o.price + 0.59, o.cap - o.knee)] : [step(false, o.price, o.cap)];
    });
    let right = 0;
    const steps = blocks.sort((a, b) => a.usd_per_mtok - b.usd_per_mtok)
      .map((step) => ({ ...step, cumulative_tokens_per_s: (right = right === null || step.tokens_per_s === null ? null : right + step.tokens_per_s) }));
    const marginal = steps.find((step) => step.cumulative_tokens_per_s === null || step.cumulative_tokens_per_s >= load);
    return { model, at, load_tokens_per_s: load, price_usd_per_mtok: marginal?.usd_per_mtok ?? null, prompt_tokens: 2047.5, output_tokens: 27.9, steps };
  };
  const day = (d) => new Date(start + d * 86_400_000).toISOString().replace(".000Z", "Z");
  const one = (name, meaning, base, claim, count, both) => ({
    baseline: name, meaning, baseline_usd: usd(base), claimed_saving_usd: usd(claim), counted_saving_usd: usd(count),
    counted_saving_share: ratio(count, both ? base + fixed : base), fixed_on_both_sides_usd: usd(both ? fixed : 0n),
    ...(both ? { served_share: 0.9998, slo_share: 0.9871 } : {}),
  });
  const sensitivity = [["baseline = cheapest compliant PAYG", -0.0712], ["prices +20%", 0.0521], ["prices -20%", -0.0781], ["demand +20%", 0.0183], ["demand -20%", -0.0307],
    ["owned utilization +10%", 0.0112], ["owned utilization -10%", -0.0126], ["epsilon 0.25%", -0.0041], ["epsilon 1%", 0.0029]];
  const experience = (n, dollars, f) => ({
    requests: n, served: n - 3, cache_hits: 1, slo_share: share(n - 9, n), spilled_share: share(5, n), marginal_usd: usd(money(dollars)),
    unpriced: 2, ttft_s_p50: 0.41, ttft_s_p95: f, tpot_s_p50: 0.012, tpot_s_p95: 0.0251,
  });
  const pair = (n, dollars) => ({ realised: experience(n, dollars, 0.9), predicted: experience(n + 1, dollars / 2, null) });
  const whole = pair(2000, 812.5);
  const realised = {
    fleet_snapshots: [{ snapshot: 3, requests: 2000 }],
    requests_decided: 2000,
    total: { realised: { ...whole.realised, fixed_usd: usd(money(40)) }, predicted: { ...whole.predicted, fixed_usd: usd(money(41)) } },
    by_destination: DESTINATIONS.map(([destination], d) => ({ model: MODELS[d % 2], destination, ...pair(300 + d, 10 * d + 1) })),
  };
  const countedSaving = sum(counted) - fixed;
  return {
    schema: "ace.report/1",
    source: { trace: "week-of-may.csv.zst", format: "azure-llm", fleet: "mid-size.yaml", fleet_digest: "9c0e4ab71f22d305", seed: 7, recorded: false, islands: 2, sensitivity: "sample", settlement: "pooled", idle: "by-usage", plant_slowdown: null,
      choices: { model: "", held: ["h100-own"], model_map: [], window_from: null, window_to: null, format: "", columns: "", tz: "", delimiter: ",", sort: false, on_bad_row: "fail", salted: true, gaps_digest: "" } },
    window: { from: day(0), to: day(7), seconds: buckets * width, shorter_than_7_days: bars === "loss" },
    coverage: {
      rows: arrived + 14, requests_considered: arrived + 11, requests: arrived, priced_requests: served - 20_413, priced_share: share(served - 20_413, arrived + 11),
      excluded: [{ reason: "no_baseline", requests: 20_413, cost_usd: usd(excluded), share_of_baseline: ratio(excluded, denominator + excluded) }],
      not_replayed: [{ reason: "a model the fleet does not have: \"gpt-4\"", requests: 11, tokens: 20_114, logged_cost_usd: "0.12" }],
      rows_skipped: [{ reason: "GeneratedTokens: expected a count, got \"n/a\"", rows: 3, first_lines: [1204, 88_017, 90_000] }],
    },
    headline: {
      baseline: "all-payg", grade: "assumed", baseline_usd: usd(denominator), actual_marginal_usd: usd(marginal), fixed_usd: usd(fixed),
      actual_fully_loaded_usd: usd(marginal + fixed), claimed_saving_usd: usd(sum(claimed) - fixed), counted_saving_usd: usd(countedSaving),
      counted_saving_share: ratio(countedSaving, denominator), counted_marginal_saving_usd: usd(sum(counted)),
      counted_marginal_saving_share: ratio(sum(counted), denominator), disallowed_usd: usd(sum(disallowed)), assumed_routing_usd: usd(money(92.13)),
      assumed_baseline_usd: usd(money(402.5)),
      other_servers: [{ what: "servers 30% slower than their figures say", saving_share: 0.0123, change: -0.1 }],
    },
    baselines: [
      one("all-payg", "every request at its model's default pay-as-you-go price, no fixed cost; includes what the customer's own purchases save", denominator, sum(claimed) - fixed, countedSaving, false),
      one("status-quo", "the same fleet in declared order up to each cap, overflow to the default API, the same fixed cost; what ACE changes", denominator / 3n, money(2210.4), money(1988.25), true),
      one("all-payg-uncached", "as all-payg, without the provider's own prompt cache", denominator + money(900), sum(claimed) - fixed + money(900), countedSaving + money(900), false),
      one("cheapest-compliant-payg", "as all-payg, at the cheapest compliant price of each model", denominator - money(2500), countedSaving - money(2400), countedSaving - money(2500), false),
    ],
    waterfall: [
      { bar: "baseline", total: true, usd: usd(baseline) },
      ...lever.map((name, i) => ({ bar: name, total: false, usd: usd(-claimed[i]) })),
      ...(unattributed ? [{ bar: "unattributed", total: false, usd: usd(-unattributed) }] : []),
      { bar: "fixed cost", total: false, usd: usd(fixed), used_usd: usd(used), idle_usd: usd(idle) },
      { bar: "actual", total: true, usd: usd(marginal + fixed) },
    ],
    levers: lever.map((name, i) => ({
      lever: name, claimed_usd: usd(claimed[i]), disallowed_usd: usd(disallowed[i]), counted_usd: usd(counted[i]),
      shapley_usd: usd((claimed[i] * 97n) / 100n), shapley_low_usd: usd(spread[i][0]), shapley_high_usd: usd(spread[i][1]),
    })),
    unattributed: { claimed_usd: usd(unattributed), counted_usd: usd(unattributed) },
    service: {
      requests: arrived, served, served_share: share(served, arrived), slo_met: met, slo_share: share(met, served), cache_hits: 0, client_aborts: 812,
      not_served: [{ verdict: "no_capacity", requests: arrived - served }], spilled: 40_217, retried: 1_904, evictions: 38, unit_changes: 112, reserve_short_requests: 17, held_back_requests: 3,
      input_tokens: Math.round(allTokens * 0.7), cached_tokens: Math.round(allTokens * 0.14), output_tokens: Math.round(allTokens * 0.16),
      goodput_tokens: Math.round(allTokens * 0.157), peak_tokens_per_minute: 9_402_118,
      gpu_time_ms: { served: 4_838_400_000, valley: 0, lent: 0, released: 0 },
    },
    realised,
    goodput: { avoidable_usd: usd(marginal + money(900)), tokens_per_avoidable_usd: 2_011_402.25, tokens_per_fully_loaded_usd: 412_930.5 },
    gates: {
      cells: 168 * TENANTS.length * 2, failed_cells: 52,
      by_reason: [
        { reason: "slo_request", requests: served - met, disallowed_usd: usd(disallowed[0]) },
        { reason: "cell_slo", requests: 61_200, disallowed_usd: usd(disallowed[1] + disallowed[3]) },
        { reason: "cell_served_fraction", requests: 9_918, disallowed_usd: usd(disallowed[2]) },
        { reason: "not_served", requests: arrived - served, disallowed_usd: "0.00" },
      ],
      failing,
    },
    fixed_cost: [
      { destination: "dc-h100-a", kind: "amortization", used_usd: usd(used / 2n), idle_usd: usd(idle / 2n), on_both_sides: true },
      { destination: "ptu-llama-70b", kind: "reserved_fee", used_usd: usd(used - used / 2n), idle_usd: usd(idle - idle / 2n), on_both_sides: true },
    ],
    destinations: DESTINATIONS.map(([destination, tier, provider, region], d) => ({
      destination, tier, provider, region, used_share: tier === "payg" ? null : 0.42 + 0.4 * next(), requests: total(requests[d]), tokens: total(tokens[d]),
      marginal_usd: usd(sum(cost[d])), fixed_usd: d < 5 ? usd(money(1400 + 300 * d)) : "0.00",
      model_loads: tier === "owned" ? 3 : 0, model_load_seconds: tier === "owned" ? 211.5 : 0,
    })),
    latency_curves: [{
      destination: DESTINATIONS[0][0], model: MODELS[0], basis: "fitted", prior_prefill_tokens_per_s: 31_000, fitted_prefill_tokens_per_s: 27_500,
      prior_step_ms: 18, fitted_step_ms: 19.5,
    }],
    slo_classes: [{ slo: "interactive", target_share: 0.99, ttft_ms: 800, tpot_ms: 60, deadline_ms: null }],
    supply_curves: MODELS.flatMap((model, m) => [curve(model, "p50", m ? 18_500 : 54_300), curve(model, "p95", m ? 39_000 : 96_100)]),
    bounds: { dispatch_bound_usd: usd(marginal - marginal / 8n), dispatch_share_of_possible: 0.941, plan_bound_usd: usd(marginal + money(7000)), plan_share_of_possible: 0.874 },
    sensitivity: {
      sample_share: 0.05, baseline: "all-payg",
      rows: sensitivity.map(([what, change]) => ({
        what, baseline: "all-payg", claimed_share: Number(countedSaving) / Number(denominator) + change + 0.01, claimed_saving_usd: usd(countedSaving / 19n),
        baseline_usd: usd(denominator / 20n), counted_saving_usd: usd((countedSaving / 20n) * BigInt(Math.round(1000 + 1000 * change)) / 1000n),
        counted_marginal_saving_usd: usd((countedSaving + fixed) / 20n), disallowed_usd: usd(0n), failed_cells: 0,
        fixed_usd: usd(fixed / 20n), saving_share: Number(countedSaving) / Number(denominator) + change, change,
      })),
    },
    knees: DESTINATIONS.slice(0, 5).map(([destination], d) => ({ destination, model: MODELS[0], slo: "interactive", prior_share_of_cap: 0.5 + 0.04 * d, fitted_share_of_cap: 0.78 - 0.05 * d })),
    chargeback,
    settlement: {
      clearing: Array.from({ length: 60 }, (_, h) => ({
        hour: new Date(start + h * 3_600_000).toISOString().replace(".000Z", "Z"), model: MODELS[h % 2], slo: "interactive", dearest: DESTINATIONS[h % 7][0],
        clearing_usd_per_mtok: h % 7 > 4 ? "0.59" : "0.034", average_usd_per_mtok: "0.0312",
      })),
      adjustments: [
        { kind: "shared_idle", destination: "dc-h100-a", tenant: "search", usd: usd(money(12)) },
        { kind: "unassigned", destination: "", tenant: null, usd: usd(-money(3)) },
      ],
      idle_reserved_usd: usd(money(118)), idle_unassigned_usd: usd(money(44)),
    },
    series: {
      start: day(0), bucket_seconds: width, destinations: DESTINATIONS.map(([name]) => name), tiers: DESTINATIONS.map(([, tier]) => tier),
      requests, tokens, marginal_usd: cost.map((list) => list.map(usd)), ...series,
    },
    assumptions: [
      "every amount is modelled: the trace was replayed against simulated servers and declared API latencies",
      "the default price of llama-3.3-70b is a list price, not contracted: its baseline is assumed",
      `a tenant may be called ${HOSTILE[1]} and stay text`,
    ],
  };
}

/** As src/report/html.cc puts a report into the built page. */
export function embed(page, report) {
  const parts = page.split('"__ACE_REPORT__"');
  if (parts.length !== 2) throw new Error(`the page has ${parts.length - 1} slots for its data, not one`);
  return parts[0] + JSON.stringify(report, null, 1).replace(/</g, "\\u003c") + parts[1];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(JSON.stringify(sample(), null, 1));
