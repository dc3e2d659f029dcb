/** The report as `ace analyze --json` prints it, schema "ace.report/1". docs/REPORT.md says what each key means. */

/** An exact amount as a decimal string. Never parsed into a float to be printed. */
export type Usd = string;
export type Share = number | null;

export type Tier = "owned" | "reserved" | "spot" | "on_demand" | "payg";
/** In merit order, as stacks are drawn: what is paid for anyway first. */
export const TIERS: readonly Tier[] = ["owned", "reserved", "spot", "on_demand", "payg"];
export const TIER_LABEL: Record<Tier, string> = {
  owned: "owned",
  reserved: "reserved",
  spot: "spot",
  on_demand: "on demand",
  payg: "pay as you go",
};

export interface Lever {
  lever: string;
  claimed_usd: Usd;
  disallowed_usd: Usd;
  counted_usd: Usd;
  shapley_usd: Usd;
  shapley_low_usd: Usd;
  shapley_high_usd: Usd;
}

export interface Bar {
  bar: string;
  total: boolean;
  usd: Usd;
  used_usd?: Usd;
  idle_usd?: Usd;
}

export interface Baseline {
  baseline: string;
  meaning: string;
  baseline_usd: Usd;
  claimed_saving_usd: Usd;
  counted_saving_usd: Usd;
  counted_saving_share: Share;
  fixed_on_both_sides_usd: Usd;
  served_share?: Share;
  slo_share?: Share;
}

export interface FailingCell {
  hour: string;
  tenant: string;
  model: string;
  reason: string;
  requests: number;
  served_share: Share;
  slo_share: Share;
  judged_by_day: boolean;
  disallowed_usd: Usd;
}

export interface DestinationRow {
  destination: string;
  tier: Tier;
  provider: string;
  region: string;
  used_share: Share;
  requests: number;
  tokens: number;
  marginal_usd: Usd;
  fixed_usd: Usd;
}

export interface ChargebackRow {
  tenant: string;
  team: string;
  model: string;
  destination: string;
  requests: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  baseline_usd: Usd;
  marginal_usd: Usd;
  charged_usd: Usd;
  fixed_usd: Usd;
  idle_usd: Usd;
  total_usd: Usd;
}

export interface Series {
  start: string;
  bucket_seconds: number;
  destinations: string[];
  tiers: Tier[];
  requests: number[][];
  tokens: number[][];
  marginal_usd: Usd[][];
  arrived: number[];
  arrived_tokens: number[];
  served: number[];
  slo_met: number[];
  not_served: number[];
}

export interface SupplyStep {
  destination: string;
  model: string;
  tier: Tier;
  beyond_knee: boolean;
  /** What the dispatcher ranks by: an estimate, not a booked price. */
  usd_per_mtok: number;
  tokens_per_s: number | null;
  knee_tokens_per_s: number | null;
  cap_tokens_per_s: number | null;
  cumulative_tokens_per_s: number | null;
}

export interface SupplyCurve {
  model: string;
  at: string;
  load_tokens_per_s: number;
  price_usd_per_mtok: number | null;
  prompt_tokens: number;
  output_tokens: number;
  steps: SupplyStep[];
}

export interface SensitivityRow {
  what: string;
  baseline: string;
  baseline_usd: Usd;
  claimed_saving_usd: Usd;
  counted_saving_usd: Usd;
  counted_marginal_saving_usd: Usd;
  disallowed_usd: Usd;
  failed_cells: number;
  fixed_usd: Usd;
  claimed_share: Share;
  saving_share: Share;
  change: number | null;
}

/** What came of requests. */
export interface Experience {
  requests: number;
  served: number;
  cache_hits: number;
  slo_share: Share;
  spilled_share: Share;
  marginal_usd: Usd;
  unpriced: number;
  ttft_s_p50: number | null;
  ttft_s_p95: number | null;
  tpot_s_p50: number | null;
  tpot_s_p95: number | null;
}

export interface Report {
  schema: string;
  source: { trace: string; format: string; fleet: string; fleet_digest: string; seed: number; recorded?: boolean; islands: number };
  window: { from: string; to: string; seconds: number; shorter_than_7_days: boolean };
  coverage: {
    rows: number;
    requests_considered: number;
    requests: number;
    priced_requests: number;
    priced_share: Share;
    excluded: { reason: string; requests: number; cost_usd: Usd; share_of_baseline: Share }[];
    not_replayed: { reason: string; requests: number; tokens: number; logged_cost_usd: Usd }[];
    rows_skipped: { reason: string; rows: number; first_lines: number[] }[];
  };
  headline: {
    baseline: string;
    grade: string;
    baseline_usd: Usd;
    actual_marginal_usd: Usd;
    fixed_usd: Usd;
    actual_fully_loaded_usd: Usd;
    claimed_saving_usd: Usd;
    counted_saving_usd: Usd;
    counted_saving_share: Share;
    counted_marginal_saving_usd: Usd;
    counted_marginal_saving_share: Share;
    disallowed_usd: Usd;
    assumed_routing_usd: Usd;
    assumed_baseline_usd: Usd;
    other_servers: { what: string; saving_share: Share; change: number | null }[];
  };
  baselines: Baseline[];
  waterfall: Bar[];
  levers: Lever[];
  unattributed: { claimed_usd: Usd; counted_usd: Usd };
  service: {
    requests: number;
    served: number;
    served_share: Share;
    slo_met: number;
    slo_share: Share;
    cache_hits: number;
    client_aborts: number;
    not_served: { verdict: string; requests: number }[];
    spilled: number;
    retried: number;
    evictions: number;
    unit_changes: number;
    input_tokens: number;
    cached_tokens: number;
    output_tokens: number;
    goodput_tokens: number;
    peak_tokens_per_minute: number;
  };
  /** Only of requests from a spine. */
  realised?: {
    fleet_snapshots: { snapshot: number; requests: number }[];
    requests_decided: number;
    total: Record<"realised" | "predicted", Experience & { fixed_usd: Usd }>;
    by_destination: { model: string; destination: string; realised: Experience; predicted: Experience }[];
  } | null;
  goodput: { avoidable_usd: Usd; tokens_per_avoidable_usd: number | null; tokens_per_fully_loaded_usd: number | null };
  gates: {
    cells: number;
    failed_cells: number;
    by_reason: { reason: string; requests: number; disallowed_usd: Usd }[];
    failing: FailingCell[];
  };
  fixed_cost: { destination: string; kind: string; used_usd: Usd; idle_usd: Usd }[];
  destinations: DestinationRow[];
  slo_classes?: { slo: string; target_share: number; ttft_ms: number | null; tpot_ms: number | null; deadline_ms: number | null }[];
  supply_curves?: SupplyCurve[];
  bounds: {
    dispatch_bound_usd: Usd;
    dispatch_share_of_possible: Share;
    plan_bound_usd: Usd;
    plan_share_of_possible: Share;
  } | null;
  sensitivity: { sample_share: number; baseline: string; rows: SensitivityRow[] };
  knees: { destination: string; model: string; slo: string; prior_share_of_cap: number; fitted_share_of_cap: number }[];
  chargeback: ChargebackRow[];
  settlement: {
    clearing: {
      hour: string;
      model: string;
      slo: string;
      dearest: string;
      clearing_usd_per_mtok: string;
      average_usd_per_mtok: string;
    }[];
    adjustments: { kind: string; destination: string; tenant: string | null; usd: Usd }[];
    idle_reserved_usd: Usd;
    idle_unassigned_usd: Usd;
  };
  series: Series;
  assumptions: string[];
}

/** The baseline that levers and waterfall decompose; against the others the saving is one amount. */
export const decomposed = (report: Report): string =>
  report.headline.baseline === "all-payg-uncached" ? report.headline.baseline : "all-payg";

/** Reads the one data block of the page. @returns a sentence where there is no report this page can show. */
export function read(document: Document): Report | string {
  let data: unknown;
  try {
    data = JSON.parse(document.getElementById("data")?.textContent ?? "null");
  } catch (error) {
    return `The data of this page is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (typeof data !== "object" || data === null) return "This page holds no report: write one with ace analyze --html FILE.";
  const schema = (data as { schema?: unknown }).schema;
  if (schema !== "ace.report/1") return `This page shows ace.report/1; its data says ${String(schema)}.`;
  return data as Report;
}
