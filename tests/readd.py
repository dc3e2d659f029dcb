#!/usr/bin/env python3
"""Adds a report up again from its rows, without a line of ACE's code.

    ace analyze trace.csv --fleet fleet.yaml --json --requests rows.csv > report.json
    tests/readd.py --requests rows.csv --report report.json

Every amount is an integer number of nano-dollars and must be equal, not close. The gates are judged again from the rows by the
rules of docs/LEDGER.md. Exit code 0: the report follows from its rows; 1: it does not, and what differs is listed.
"""
import argparse
import collections
import csv
import decimal
import json
import sys

LEVERS = ("caching", "routing", "arbitrage", "utilization")
CELL_REQUESTS_MIN = 500
SERVED_MIN_PPM = 999_000


def nano(text):
    """Nano-dollars of a decimal string, exactly."""
    amount = decimal.Decimal(text).scaleb(9, decimal.Context(prec=60))
    if amount != amount.to_integral_value():
        raise ValueError(f"{text} has more than nine decimals")
    return int(amount)


def ppm(share):
    return int(decimal.Decimal(str(share)) * 1_000_000)


def reached(part, whole, least_ppm):
    return part * 1_000_000 >= whole * least_ppm


def yes(text):
    return {"true": True, "false": False}[text]


class Claim:
    """A request's levers, and what its own gates leave of them."""

    def __init__(self, row):
        c = [nano(row[f"c{i}_usd"]) for i in range(5)]
        self.c0, self.c4 = c[0], c[4]
        self.unattributed = nano(row["unattributed_usd"])
        self.levers = [c[i] - c[i + 1] for i in range(4)]
        self.levers[3] -= self.unattributed
        self.claimed = sum(self.levers) + self.unattributed
        assert self.claimed == self.c0 - self.c4

        self.answered = row["outcome"] != "not_served"
        self.in_time = self.answered and yes(row["slo_met"])
        self.excluded = row["reason"] if row["reason"] in ("unpriced", "no_baseline") else "none"
        self.reason = "none"
        self.withheld_lever = 0
        rest, withheld = [*self.levers, self.unattributed], [0] * 5
        if not self.answered:
            self.reason = "not_served"
        elif self.excluded != "none":
            self.reason = self.excluded
        else:
            lever = {"insufficient_evidence": 0, "assumed_routing": 1}.get(row["lever_reason"])
            if lever is not None:
                taken = max(0, min(rest[lever], sum(rest)))
                withheld[lever] += taken
                rest[lever] -= taken
                self.withheld_lever = taken
            if not self.in_time:
                self.reason = "slo_request"
        self.withheld, self.gated, self.loss = withheld, [0] * 5, [0] * 5
        if sum(rest) <= 0:
            self.loss = rest
        elif self.reason != "none":
            self.withheld = [a + b for a, b in zip(withheld, rest)]
        else:
            self.gated = rest


class Cell:
    def __init__(self):
        self.requests = self.served = self.in_time = 0

    def enter(self, claim):
        self.requests += 1
        self.served += claim.answered
        self.in_time += claim.in_time


def hour_of(row):
    return row["at"][:13]  # times are UTC, RFC 3339


class Comparison:
    def __init__(self):
        self.differences = []
        self.compared = 0

    def equal(self, what, expected, got):
        self.compared += 1
        if expected != got:
            self.differences.append(f"{what}: the report says {expected}, the rows say {got}")


def judge(rows, claims, targets):
    """Cell -> the gate it fails."""
    cells, days, class_days = (collections.defaultdict(Cell) for _ in range(3))
    classes = collections.defaultdict(lambda: collections.defaultdict(Cell))
    for row, claim in zip(rows, claims):
        hour, who, slo = hour_of(row), (row["tenant"], row["model"]), row["slo_class"]
        cells[(hour, *who)].enter(claim)
        classes[(hour, *who)][slo].enter(claim)
        days[(hour[:10], *who)].enter(claim)
        class_days[(hour[:10], *who, slo)].enter(claim)
    failed = {}
    for key, cell in cells.items():
        hour, tenant, model = key
        whole = cell if cell.requests >= CELL_REQUESTS_MIN else days[(hour[:10], tenant, model)]
        failed[key] = "none"
        if not reached(whole.served, whole.requests, SERVED_MIN_PPM):
            failed[key] = "cell_served_fraction"
            continue
        for slo, one in classes[key].items():
            whole = one if one.requests >= CELL_REQUESTS_MIN else class_days[(hour[:10], tenant, model, slo)]
            if not reached(whole.in_time, whole.requests, targets[slo]):
                failed[key] = "cell_slo"
                break
    return failed


def readd(rows, report):
    """@return what differs, and how many figures were compared"""
    check = Comparison()
    head = report["headline"]
    claims = [Claim(row) for row in rows]
    gates = judge(rows, claims, {c["slo"]: ppm(c["target_share"]) for c in report["slo_classes"]})

    # ---- Row by row: what counts, and why not.
    counted, disallowed = [0] * 5, [0] * 5
    by_reason, requests_by_reason = collections.Counter(), collections.Counter()
    cell_disallowed = collections.Counter()
    for row, claim in zip(rows, claims):
        key = (hour_of(row), row["tenant"], row["model"])
        gate = gates[key]
        ours = [a + (b if gate == "none" else 0) for a, b in zip(claim.loss, claim.gated)]
        lost = [a + b + c - d for a, b, c, d in zip(claim.loss, claim.gated, claim.withheld, ours)]
        counted = [a + b for a, b in zip(counted, ours)]
        disallowed = [a + b for a, b in zip(disallowed, lost)]
        cell_disallowed[key] += sum(lost)
        rest = sum(claim.withheld) - claim.withheld_lever
        if row["lever_reason"] != "none":
            by_reason[row["lever_reason"]] += claim.withheld_lever
            requests_by_reason[row["lever_reason"]] += 1
        if claim.reason in ("not_served", "unpriced", "no_baseline") or rest:
            by_reason[claim.reason] += rest
            requests_by_reason[claim.reason] += 1
        if gate != "none" and any(claim.gated):
            by_reason[gate] += sum(claim.gated)
            requests_by_reason[gate] += 1
        who = f"request {row['id']}"
        check.equal(f"{who} counted_usd", nano(row["counted_usd"]), sum(ours))
        check.equal(f"{who} disallowed_usd", nano(row["disallowed_usd"]), sum(lost))
        check.equal(f"{who} reason", row["reason"], claim.reason)
        check.equal(f"{who} gate", row["gate"], gate)
    ids = {row["id"] for row in rows}
    check.equal("different ids", len(ids), len(rows))

    # ---- Totals: counts, levers, the headline.
    fixed = sum(nano(line["used_usd"]) + nano(line["idle_usd"]) for line in report["fixed_cost"])
    priced = [c for c in claims if c.answered and c.excluded == "none"]
    actual = sum(c.c4 for c in claims)
    claimed = [sum(c.levers[i] for c in claims) for i in range(4)] + [sum(c.unattributed for c in claims)]
    denominator = sum(c.c0 for c in priced)
    check.equal("coverage/requests", report["coverage"]["requests"], len(rows))
    check.equal("coverage/priced_requests", report["coverage"]["priced_requests"], len(priced))
    for line in report["coverage"]["excluded"]:
        if line["reason"] in ("unpriced", "no_baseline"):
            cost = sum(c.c0 for c in claims if c.excluded == line["reason"])
            check.equal(f"coverage/excluded {line['reason']}", nano(line["cost_usd"]), cost)
    service = report["service"]
    check.equal("service/served", service["served"], sum(c.answered for c in claims))
    check.equal("service/slo_met", service["slo_met"], sum(c.in_time for c in claims))
    check.equal("service/client_aborts", service["client_aborts"], sum(r["outcome"] == "client_abort" for r in rows))
    check.equal("service/retried", service["retried"], sum(int(r["attempts"]) > 1 for r in rows))
    answered = [row for row, claim in zip(rows, claims) if claim.answered]
    check.equal("service/cached_tokens", service["cached_tokens"], sum(int(r["cached_tokens"]) for r in answered))
    for i, name in enumerate(LEVERS):
        line = next(l for l in report["levers"] if l["lever"] == name)
        check.equal(f"{name} claimed", nano(line["claimed_usd"]), claimed[i])
        check.equal(f"{name} disallowed", nano(line["disallowed_usd"]), disallowed[i])
        check.equal(f"{name} counted", nano(line["counted_usd"]), counted[i])
    check.equal("unattributed claimed", nano(report["unattributed"]["claimed_usd"]), claimed[4])
    check.equal("unattributed counted", nano(report["unattributed"]["counted_usd"]), counted[4])
    shapley = sum(nano(line["shapley_usd"]) for line in report["levers"])
    check.equal("sum of the Shapley split", shapley, sum(claimed[:4]))
    check.equal("fixed_usd", nano(head["fixed_usd"]), fixed)
    check.equal("actual_marginal_usd", nano(head["actual_marginal_usd"]), actual)
    check.equal("actual_fully_loaded_usd", nano(head["actual_fully_loaded_usd"]), actual + fixed)
    check.equal("claimed = counted + disallowed", sum(claimed), sum(counted) + sum(disallowed))
    # The rows start from the baseline that the levers decompose: all-payg, unless the headline's is its uncached form.
    decomposed = head["baseline"] if head["baseline"] == "all-payg-uncached" else "all-payg"
    line = next(b for b in report["baselines"] if b["baseline"] == decomposed)
    check.equal(f"{decomposed}: baseline", nano(line["baseline_usd"]), denominator)
    check.equal(f"{decomposed}: claimed", nano(line["claimed_saving_usd"]), sum(claimed) - fixed)
    check.equal(f"{decomposed}: counted", nano(line["counted_saving_usd"]), sum(counted) - fixed)
    if head["baseline"] == decomposed:
        check.equal("disallowed_usd", nano(head["disallowed_usd"]), sum(disallowed))
        check.equal("counted_marginal_saving_usd", nano(head["counted_marginal_saving_usd"]), sum(counted))
    claimed_head, counted_head = (nano(head[f"{what}_saving_usd"]) for what in ("claimed", "counted"))
    check.equal("headline: claimed - disallowed = counted", claimed_head - nano(head["disallowed_usd"]), counted_head)
    if all(c.answered and c.excluded == "none" for c in claims):
        check.equal("headline: baseline - actual = claimed", nano(head["baseline_usd"]) - actual - fixed, claimed_head)
    # ---- The other baseline, request by request: one signed amount, held against the same gates.
    other = next((b for b in report["baselines"] if b["baseline"] in ("status-quo", "round-robin")), None)
    if other:
        both = sum(nano(line["used_usd"]) + nano(line["idle_usd"]) for line in report["fixed_cost"] if line["on_both_sides"])
        paid = savings = kept = 0
        for row, claim in zip(rows, claims):
            amount = nano(row["other_baseline_usd"])
            saving = amount - claim.c4
            savings += saving
            paid += amount if claim.answered and claim.excluded == "none" else 0
            if saving <= 0:
                kept += saving
            elif claim.reason == "none" and gates[(hour_of(row), row["tenant"], row["model"])] == "none":
                kept += saving - min(saving, claim.withheld_lever)
        name = other["baseline"]
        check.equal(f"{name}: fixed cost on both sides", nano(other["fixed_on_both_sides_usd"]), both)
        check.equal(f"{name}: baseline", nano(other["baseline_usd"]), paid + both)
        check.equal(f"{name}: claimed", nano(other["claimed_saving_usd"]), savings - (fixed - both))
        check.equal(f"{name}: counted", nano(other["counted_saving_usd"]), kept - (fixed - both))
        if head["baseline"] == name:
            check.equal("disallowed_usd", nano(head["disallowed_usd"]), savings - kept)
    line = next(b for b in report["baselines"] if b["baseline"] == head["baseline"])
    for name in ("baseline_usd", "claimed_saving_usd", "counted_saving_usd", "counted_saving_share"):
        check.equal(f"headline and its line among the baselines: {name}", head[name], line[name])

    # ---- Gates.
    check.equal("gates/cells", report["gates"]["cells"], len(gates))
    check.equal("gates/failed_cells", report["gates"]["failed_cells"], sum(g != "none" for g in gates.values()))
    for line in report["gates"]["by_reason"]:
        reason = line["reason"]
        check.equal(f"gates/{reason} requests", line["requests"], requests_by_reason.pop(reason, 0))
        check.equal(f"gates/{reason} disallowed", nano(line["disallowed_usd"]), by_reason.pop(reason, 0))
    check.equal("reasons that the report leaves out", {}, {r: n for r, n in requests_by_reason.items() if n})
    for line in report["gates"]["failing"]:
        key = (line["hour"][:13], line["tenant"], line["model"])
        check.equal(f"gates/failing {key} reason", line["reason"], gates[key])
        check.equal(f"gates/failing {key} disallowed", nano(line["disallowed_usd"]), cell_disallowed[key])

    # ---- The waterfall stands: all bars but the last sum to the last.
    bars = [nano(bar["usd"]) for bar in report["waterfall"]]
    check.equal("waterfall: first bar", bars[0], sum(c.c0 for c in claims))
    check.equal("waterfall: last bar", bars[-1], actual + fixed)
    check.equal("waterfall: sum of the bars", bars[-1], sum(bars[:-1]))

    # ---- Where it went, and who pays.
    by_destination = collections.Counter()
    for row, claim in zip(rows, claims):
        by_destination[row["destination"] if claim.answered else ""] += claim.c4
    for line in report["destinations"]:
        name = line["destination"]
        check.equal(f"destination {name} marginal", nano(line["marginal_usd"]), by_destination[name])
    lines = collections.defaultdict(lambda: [0, 0, 0])
    for row, claim in zip(rows, claims):
        where = row["destination"] if claim.answered else ""
        line = lines[(row["tenant"], row["team"], row["model_used"], where)]
        for i, amount in enumerate((1, claim.c0, claim.c4)):
            line[i] += amount
    check.equal("chargeback: lines", len(report["chargeback"]), len(lines))
    charged = 0
    for line in report["chargeback"]:
        key = (line["tenant"], line["team"], line["model"], line["destination"])
        got = (line["requests"], nano(line["baseline_usd"]), nano(line["marginal_usd"]))
        check.equal(f"chargeback {key}", got, tuple(lines[key]))
        total = sum(nano(line[name]) for name in ("charged_usd", "fixed_usd", "idle_usd"))
        check.equal(f"chargeback {key} total", nano(line["total_usd"]), total)
        charged += total
    adjusted = sum(nano(line["usd"]) for line in report["settlement"]["adjustments"])
    check.equal("chargeback and adjustments", charged + adjusted, actual + fixed)
    marginal = sum(nano(amount) for series in report["series"]["marginal_usd"] for amount in series)
    check.equal("series: marginal of all destinations", marginal, sum(c.c4 for c, r in zip(claims, rows) if r["outcome"] == "served"))
    check.equal("series: arrivals", sum(report["series"]["arrived"]), len(rows))
    return check.differences, check.compared


def load(requests, report):
    with open(requests, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open(report, encoding="utf-8") as file:
        return rows, json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", required=True, help="what ace analyze --requests wrote")
    parser.add_argument("--report", required=True, help="what ace analyze --json printed")
    arguments = parser.parse_args()
    rows, report = load(arguments.requests, arguments.report)
    differences, compared = readd(rows, report)
    for difference in differences[:20]:
        print(difference)
    if differences:
        print(f"the report does not follow from its {len(rows)} rows: {len(differences)} of {compared} figures differ")
        return 1
    print(f"the report follows from its {len(rows)} rows: {compared} figures are equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
