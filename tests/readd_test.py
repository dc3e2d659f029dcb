#!/usr/bin/env python3
"""A report adds up again from its rows: for every baseline, with gates that fail, and readd.py notices a changed digit.

    readd_test.py ACE [TRACE FLEET]...    the generated workload, then each trace with its fleet
"""
import copy
import sys

import readd
import world

OFF = ("--sensitivity", "off", "--salt-file", "salt")
BASELINES = ("all-payg", "all-payg-uncached", "status-quo", "round-robin")


def analyze(here, trace, fleet, *arguments):
    ran = here.run("analyze", trace, "--fleet", fleet, "--json", "--requests", "rows.csv", *OFF, *arguments, timeout=300)
    if ran.code != 0:
        sys.exit(f"ace analyze {trace}: {ran.err}")
    here.write("report.json", ran.out)
    return readd.load(here.folder / "rows.csv", here.folder / "report.json")


def expect(condition, what):
    if not condition:
        sys.exit(what)


def follows(rows, report, what):
    differences, compared = readd.readd(rows, report)
    expect(not differences, f"{what}: {len(differences)} differences, first: {differences[:3]}")
    print(f"ok  {what}: {len(rows)} rows, {compared} figures are equal")


def generated(here):
    here.generate("trace.csv")
    for baseline in BASELINES:
        rows, report = analyze(here, "trace.csv", "fleet.yaml", "--baseline", baseline)
        expect(report["headline"]["baseline"] == baseline, "the headline names the baseline that was asked for")
        if baseline == "all-payg":
            first = rows, report
            reasons = {line["reason"] for line in report["gates"]["by_reason"]}
            expect({"slo_request", "cell_slo"} <= reasons, f"the workload was made to fail gates, these spoke: {reasons}")
        expect(report["baselines"][0] == first[1]["baselines"][0], f"--baseline {baseline} moves the all-payg line")
        follows(rows, report, f"generated, {baseline}")
    for arguments in (["--settlement", "clearing", "--idle", "even"], ["--settlement", "as-dispatched", "--idle", "keep-idle"]):
        follows(*analyze(here, "trace.csv", "fleet.yaml", *arguments), f"generated, {' '.join(arguments)}")

    # A nano-dollar or a word anywhere is found.
    rows, report = first
    late = next(i for i, row in enumerate(rows) if row["reason"] == "slo_request")
    for column, value in (("c0_usd", "0.000000001"), ("c4_usd", "0.000000001"), ("counted_usd", "1.00"),
                          ("other_baseline_usd", "0.000000001"), ("slo_met", "true"), ("gate", "cell_quality"), ("tenant", "nobody")):
        changed = [dict(row) for row in rows]
        changed[late][column] = value
        expect(readd.readd(changed, report)[0], f"readd.py did not notice {column} of one row")
    for path in (["headline", "counted_saving_usd"], ["levers", 3, "claimed_usd"], ["chargeback", 0, "total_usd"],
                 ["waterfall", 5, "usd"], ["gates", "by_reason", 0, "disallowed_usd"], ["destinations", 0, "marginal_usd"]):
        changed = copy.deepcopy(report)
        at = changed
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = at[path[-1]][:-1] + str((int(at[path[-1]][-1]) + 1) % 10)
        expect(readd.readd(rows, changed)[0], f"readd.py did not notice {path}")
    expect(readd.readd(rows[1:], report)[0], "readd.py did not notice a missing row")
    print("ok  13 changed figures and a missing row are noticed")


def main():
    here = world.World(sys.argv[1])
    given = sys.argv[2:]
    if not given:
        generated(here)
    for trace, fleet in zip(given[0::2], given[1::2]):
        fleet = "fleet.yaml" if fleet == "-" else fleet
        arguments = ["--model", "large"] if fleet == "fleet.yaml" else []
        follows(*analyze(here, trace, fleet, *arguments), trace)
    here.close()


if __name__ == "__main__":
    main()
