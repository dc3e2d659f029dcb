#!/usr/bin/env python3
"""Inputs that could make a saving out of nothing, end to end: logs, price lists and fleet files. None may.

    inflation_test.py ACE [unittest arguments]

src/ledger/attack_test.cc does the same with the events of requests.
"""
import json
import sys
import unittest

import world

HERE = None  # the world of all tests

# One API that is its own baseline: whatever is replayed there, nothing can be saved.
API = """\
version: 1
prices: [PRICES]
providers: {p: {jurisdictions: [us]}}
models: {m: {context: 100000, baseline: {destination: d, as_of: 2026-01-01, contracted: true}}}
slo_classes: {chat: {ttft: 100s}}
destinations:
  - {id: d, tier: payg, provider: p, models: [m], price_key: a/m, unlimited: true}
"""
PLAIN = '{a/m: {input: "1.00 USD/Mtok", cached_input: "0.10 USD/Mtok", output: "2.00 USD/Mtok"}}'
ROW = "2026-01-05T00:0{}:00Z,m,1000,100\n"
TRACE = "at,model,prompt,output\n" + "".join(ROW.format(i) for i in range(10))


class Case(unittest.TestCase):
    def report(self, trace, fleet, *arguments, code=0):
        HERE.write("log", trace)
        HERE.write("f.yaml", fleet)
        ran = HERE.run("analyze", "log", "--fleet", "f.yaml", "--sensitivity", "off", "--json", *arguments)
        self.assertEqual(ran.code, code, ran.err)
        return json.loads(ran.out) if code == 0 else ran.err

    def baseline(self, report, name):
        return next(b for b in report["baselines"] if b["baseline"] == name)


class Logs(Case):
    def test_an_image_that_no_token_explains_is_no_saving_and_stands_in_the_coverage(self):
        spend = lambda i, **more: json.dumps({
            "request_id": f"r{i}", "model": "m", "startTime": f"2026-01-05T00:{i:02}:00Z", "endTime": f"2026-01-05T00:{i:02}:02Z",
            "status": "success", "call_type": "acompletion", "spend": 0.0012, "total_tokens": 1100, "prompt_tokens": 1000,
            "completion_tokens": 100, **more})
        image = {"call_type": "aimage_generation", "spend": 0.04}
        log = "".join(spend(i, **(image if i % 10 == 0 else {})) + "\n" for i in range(50))
        report = self.report(log, API.replace("PRICES", PLAIN), "--baseline", "status-quo")
        self.assertEqual(report["headline"]["counted_saving_usd"], "0.00")
        self.assertEqual(report["headline"]["baseline_usd"], "0.054")
        lost, = report["coverage"]["not_replayed"]
        self.assertEqual((lost["requests"], lost["logged_cost_usd"]), (5, "0.20"))
        self.assertIn("not by tokens", lost["reason"])
        self.assertTrue(any("call type aimage_generation" in said for said in report["assumptions"]))

    def test_requests_of_one_total_are_compared_each_with_itself(self):
        export = json.dumps({"object": "page", "data": [{"object": "bucket", "start_time": 1767571200, "end_time": 1767574800, "results": [
            {"object": "organization.usage.completions.result", "input_tokens": 1000, "output_tokens": 500, "input_cached_tokens": 301,
             "num_model_requests": 7, "model": "m"}]}]})
        report = self.report(export, API.replace("PRICES", PLAIN))
        quo = self.baseline(report, "status-quo")
        # 699 x 1 + 301 x 0.1 + 500 x 2 millionths of a dollar
        self.assertEqual((quo["baseline_usd"], quo["counted_saving_usd"]), ("0.0017291", "0.00"))
        HERE.run("trace", "convert", "log", "each.csv", "--to", "csv", "--fleet", "f.yaml")
        self.assertEqual(self.report(HERE.read("each.csv"), API.replace("PRICES", PLAIN))["baselines"], report["baselines"])

    def test_answers_of_a_cache_are_counted_on_both_sides(self):
        log = "at,model,prompt,output,cache_hit\n" + "".join(
            ROW.format(i).rstrip() + (",true\n" if i % 2 else ",\n") for i in range(10))
        quo = self.baseline(self.report(log, API.replace("PRICES", PLAIN)), "status-quo")
        self.assertEqual((quo["served_share"], quo["slo_share"]), (1.0, 1.0))

    def test_people_are_not_books(self):
        log = "at,model,tenant,prompt,output\n" + "".join(f"2026-01-05T00:{i // 400:02}:{i % 400 // 8:02}Z,m,u{i},10,1\n" for i in range(12_000))
        report = self.report(log, API.replace("PRICES", PLAIN))
        lines = {line["tenant"]: line["requests"] for line in report["chargeback"]}
        self.assertEqual((len(lines), lines["(2,000 more tenants)"]), (10_001, 2000))
        self.assertTrue(any("stand together as one" in said for said in report["assumptions"]))

    def test_a_model_under_another_name_is_said(self):
        HERE.write("map.csv", "tiny,m\n")
        report = self.report(TRACE.replace(",m,", ",tiny,"), API.replace("PRICES", PLAIN), "--model-map", "map.csv")
        self.assertTrue(any("tiny as m" in said for said in report["assumptions"]))


class Prices(Case):
    VERSIONS = json.dumps({"a/m": [
        {"valid_from": "2026-01-01", "valid_to": "2026-06-01", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6},
        {"valid_from": "2099-01-01", "input_cost_per_token": 5e-6, "output_cost_per_token": 9e-6}]})

    def test_a_price_of_other_days_is_not_that_of_the_trace(self):
        HERE.write("v.json", self.VERSIONS)
        refused = self.report(TRACE, API.replace("PRICES", "v.json"), code=2)
        for words in ("a/m", "begins 2099-01-01", "2026-01-05", "on: DAY"):
            self.assertIn(words, refused)
        # 10 x (1000 x 1 + 100 x 2) millionths of a dollar
        chosen = self.report(TRACE, API.replace("PRICES", "{path: v.json, on: 2026-02-01}"))
        self.assertEqual(chosen["headline"]["baseline_usd"], "0.012")
        self.assertFalse(any("a/m is that of" in said for said in chosen["assumptions"]), "that day has the price of the trace")
        later = self.report(TRACE, API.replace("PRICES", "{path: v.json, on: 2099-02-01}"))
        self.assertEqual(later["headline"]["baseline_usd"], "0.059")
        self.assertTrue(any("a/m is that of 2099-02-01" in said for said in later["assumptions"]))

    def test_a_price_that_is_still_to_come_is_no_price_today(self):
        HERE.write("v.json", self.VERSIONS)
        checked = HERE.run("prices", "check", "v.json", "--own")
        self.assertEqual(checked.code, 1, checked.text)
        self.assertIn("2099-01-01", checked.text)

    def test_a_baseline_that_its_destination_does_not_charge_is_refused(self):
        dear = PLAIN[:-1] + ', a/dear: {input: "100 USD/Mtok", output: "200 USD/Mtok"}}'
        refused = self.report(TRACE, API.replace("PRICES", dear).replace("destination: d,", "destination: d, price_key: a/dear,"), code=2)
        self.assertIn("nobody would have paid that", refused)

    def test_a_default_that_cannot_hold_a_request_is_not_its_baseline(self):
        two = '{a/m: {input: "9.00 USD/Mtok", output: "9.00 USD/Mtok"}, b/m: {input: "1.00 USD/Mtok", output: "2.00 USD/Mtok"}}'
        fleet = API.replace("PRICES", two).replace("models: [m]", "models: [{model: m, context: 500}]")
        fleet += "  - {id: e, tier: payg, provider: p, models: [m], price_key: b/m, unlimited: true}\n"
        report = self.report(TRACE, fleet)
        self.assertEqual(report["headline"]["baseline_usd"], "0.012")
        self.assertEqual(report["headline"]["counted_saving_usd"], "0.00")


class Worlds(Case):
    POOL = '  - {id: s, tier: TIER, provider: p, region: r, models: [llama-3.3-70b], accelerator: a100-80g, count: 8, tp: 8, units: 2, COST}\n'
    HISTORY = "date,instance,region,ondemand_usd_per_h,spot_usd_per_h,commit1y_usd_per_month,commit3y_usd_per_month\n2026-01-05,a2,r,40,16,,\n"

    def fleet(self, tier, cost):
        return API.replace("PRICES", PLAIN).replace("{m: {", "{llama-3.3-70b: {").replace("models: [m]", "models: [llama-3.3-70b]") + \
            self.POOL.replace("TIER", tier).replace("COST", cost)

    def test_a_rented_pool_pays_the_price_of_its_own_market(self):
        HERE.write("h.csv", self.HISTORY)
        trace = TRACE.replace(",m,", ",llama-3.3-70b,")
        # Two units for one started hour each.
        on_demand = self.report(trace, self.fleet("on_demand", "rental: {series: h.csv, instance: a2}"))
        self.assertEqual(on_demand["headline"]["fixed_usd"], "80.00")
        spot = self.report(trace, self.fleet("spot", "rental: {series: h.csv, instance: a2, hazard: 0%/h}"))
        self.assertEqual(spot["headline"]["fixed_usd"], "32.00")
        self.assertTrue(any("no unit of s is ever taken away" in said for said in spot["assumptions"]))
        self.assertIn("hazard", self.report(trace, self.fleet("spot", "rental: {series: h.csv, instance: a2}"), code=2))

    def test_a_series_is_not_stretched_to_a_trace_outside_of_it(self):
        HERE.write("h.csv", self.HISTORY)
        late = TRACE.replace(",m,", ",llama-3.3-70b,").replace("2026-01-05", "2026-01-07")
        self.assertIn("the price series of s ends 2026-01-06", self.report(
            late, self.fleet("on_demand", "rental: {series: h.csv, instance: a2}"), code=2))
        HERE.write("power.csv", ",Real price\n2026-01-04 00:00:00,100\n2026-01-04 01:00:00,-10\n")
        owned = self.fleet("owned", 'amortization: "1 USD/h/gpu"') + "electricity: {series: power.csv}\n"
        self.assertIn("the electricity series ends 2026-01-04T02:00:00Z", self.report(late, owned, code=2))
        curve = HERE.run("fleet", "curve", "f.yaml", "--model", "llama-3.3-70b")
        self.assertEqual(curve.code, 2)
        self.assertIn("--at", curve.err)
        self.assertEqual(HERE.run("fleet", "curve", "f.yaml", "--model", "llama-3.3-70b", "--at", "2026-01-04T01:30:00Z").code, 0)

    def test_capacity_that_the_log_never_had_is_on_our_side_alone(self):
        rows = "".join(f"2026-01-05T00:0{i}:00Z,llama-3.3-70b,1000,100,0.0012\n" for i in range(10))
        rented = 'rental: {price: "2 USD/h/gpu"}'  # two units of 8 GPUs for one started hour: 32 USD
        for held, baseline, both in ((), "0.012", "0.00"), (("--held", "s"), "32.012", "32.00"):
            report = self.report("at,model,prompt,output,cost_usd\n" + rows, self.fleet("on_demand", rented), "--baseline", "status-quo", *held)
            self.assertEqual(report["source"]["choices"]["held"], ["s"] if held else [])
            head, quo = report["headline"], self.baseline(report, "status-quo")
            self.assertEqual((head["baseline_usd"], quo["fixed_on_both_sides_usd"], head["fixed_usd"]), (baseline, both, "32.00"))
            saved = float(baseline) - float(head["actual_fully_loaded_usd"])
            self.assertAlmostEqual(float(head["counted_saving_usd"]), saved, places=9)
            self.assertEqual(saved < -31, not held)
        for name in ("d", "nobody"):
            self.assertIn(name, self.report(TRACE, API.replace("PRICES", PLAIN), "--held", name, code=2))

    def test_the_world_of_a_headline_is_not_what_is_believed_unless_somebody_asks(self):
        trace = TRACE.replace(",m,", ",llama-3.3-70b,")
        owned = self.fleet("owned", 'amortization: "1 USD/h/gpu"')
        report = self.report(trace, owned)
        self.assertIsNone(report["source"]["plant_slowdown"])
        self.assertTrue(any("take 1.17 times as long" in said for said in report["assumptions"]))
        measured = owned.replace("units: 2,", "units: 2, measured: {prefill_tokens_per_s: 6000, step_base: 20ms, kv_tokens_max: 900000},")
        self.assertTrue(any("keep it exactly" in said for said in self.report(trace, measured)["assumptions"]))
        believed = self.report(trace, owned, "--plant-slowdown", "1")
        self.assertTrue(any("just what the dispatcher believes" in said for said in believed["assumptions"]))

    def test_another_plant_is_said_and_a_faster_one_refused(self):
        report = self.report(TRACE, API.replace("PRICES", PLAIN), "--plant-slowdown", "1.5")
        self.assertEqual(report["source"]["plant_slowdown"], 1.5)
        self.assertTrue(any("1.5 times as long" in said for said in report["assumptions"]))
        for option, value in (("--plant-slowdown", "0.2"), ("--plant-slowdown", "nan"), ("--plant-slowdown", "inf"), ("--seed", "-1"), ("--seed", "99999999999999999999")):
            self.assertIn(option, self.report(TRACE, API.replace("PRICES", PLAIN), option, value, code=2))


if __name__ == "__main__":
    HERE = world.World(sys.argv.pop(1))
    try:
        unittest.main()
    finally:
        HERE.close()
