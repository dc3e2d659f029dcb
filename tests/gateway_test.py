#!/usr/bin/env python3
"""`ace serve` as an operator handles it: a fleet file that changes under traffic, a process that is killed, a mode that only watches;
and what `ace verify` and `ace ledger report` find on the spine afterwards.

    gateway_test.py ACE [unittest arguments]
"""
import concurrent.futures
import decimal
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import services
import spine_insider

ACE = None
PRICES = {"cheap": ("1", "2"), "middle": ("2", "4"), "dear": ("10", "20")}


POOL = """\
  - id: pool
    tier: on_demand
    provider: rented
    models: [m]
    accelerator: l40s
    count: 2
    units: 1
    rental: {price: "36 USD/h/gpu", increment: 1h}
    measured: {prefill_tokens_per_s: 9000, step_base: 14ms, step_per_sequence: 40us, step_per_kv_token: 0.9ns, batch_max: 128, kv_tokens_max: 180000}
"""


def fleet(ports):
    providers = "\n".join(f'  {name}: {{jurisdictions: [eu], api: openai, url: "http://127.0.0.1:{port}"}}' for name, port in ports.items())
    prices = "\n".join(f'  - {name}/m: {{input: "{i} USD/Mtok", output: "{o} USD/Mtok", source: "a test", as_of: 2026-11-01}}'
                       for name, (i, o) in PRICES.items())
    places = "\n".join(f"  - {{id: {name}, tier: payg, provider: {name}, models: [m], price_key: {name}/m, unlimited: true}}" for name in PRICES)
    return f"""version: 1
providers:
{providers}
prices:
{prices}
models:
  m: {{context: 100000, baseline: {{destination: dear, price_key: dear/m, as_of: 2026-11-01, contracted: true}}}}
slo_classes: {{chat: {{ttft: 5s}}}}
tenants: {{acme: {{}}}}
destinations:
{places}
"""


class Gateway(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.here = pathlib.Path(scratch.name)

    def start(self, mode="inline", scripts=None, more="", pool=False):
        """@param pool  with a machine that is rented by the hour, and that nobody calls"""
        self.upstreams = {}
        for name in PRICES:
            self.upstreams[name] = services.Provider(ACE, self.here, name, {"tokens": 20, **(scripts or {}).get(name, {})})
            self.addCleanup(self.upstreams[name].stop)
        text = fleet({name: upstream.port for name, upstream in self.upstreams.items()})
        if pool:
            text = text.replace("\nprices:", "\n  rented: {jurisdictions: [eu]}\nprices:") + POOL
        (self.here / "fleet.yaml").write_text(text)
        self.port = services.free_port()
        (self.here / "ace.yaml").write_text(
            f"version: 1\nfleet: fleet.yaml\nspine: {{dir: spine}}\nlisten: {{port: {self.port}}}\nthreads: 2\ntenant: acme\nmode: {mode}\n{more}")
        self.gateway = self.serve("gateway")

    def serve(self, name):
        gateway = services.Service([ACE, "serve", "--config", "ace.yaml"], self.here, name)
        self.addCleanup(gateway.stop)
        gateway.wait_for_port(self.port)
        return gateway

    def chat(self, stream=False):
        """Status, destination, cost in USD."""
        body = json.dumps({"model": "m", "stream": stream, "max_tokens": 100, "messages": [{"role": "user", "content": "hello " * 50}]})
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/chat/completions", data=body.encode(), method="POST")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                text = answer.read().decode()
                self.assertIn("[DONE]" if stream else '"choices"', text)
                return answer.status, answer.headers["x-ace-destination"], decimal.Decimal(answer.headers.get("x-ace-cost-usd", "0"))
        except urllib.error.HTTPError as error:
            error.read()
            return error.code, error.headers.get("x-ace-destination"), decimal.Decimal(error.headers.get("x-ace-cost-usd", "0"))

    def many(self, count, at_once=8, stream=False):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(lambda _: self.chat(stream), range(count)))

    def stop(self):
        self.assertEqual(self.gateway.stop(), 0, self.gateway.err())

    def ace(self, *arguments):
        ran = subprocess.run([ACE, *map(str, arguments)], cwd=self.here, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, f"ace {arguments}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def test_every_dollar_that_a_client_was_told_stands_in_the_ledger(self):
        self.start()
        told = sum(cost for _, _, cost in self.many(50))
        self.assertGreater(told, 0)
        self.stop()
        self.ace("verify", "spine")
        headline = json.loads(self.ace("ledger", "report", "spine", "--json"))["headline"]
        self.assertEqual(decimal.Decimal(headline["actual_marginal_usd"]), told)
        self.assertEqual(headline["grade"], "measured")

    def test_a_reload_takes_a_new_fleet_and_drops_no_request(self):
        self.start(scripts={"cheap": {"tokens": 100, "tpot": "20ms"}})
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            running = [pool.submit(self.chat, True) for _ in range(4)]
            time.sleep(0.5)
            text = (self.here / "fleet.yaml").read_text()
            (self.here / "fleet.yaml").write_text(text.replace("tenants: {acme: {}}", "tenants: {acme: {}, beta: {}}"))
            self.gateway.process.send_signal(signal.SIGHUP)
            services.until(lambda: "ace: reloaded" in self.gateway.err(), 10, "it did not reload: " + self.gateway.err())
            for answer in running:
                self.assertEqual(answer.result()[0], 200)
        self.assertEqual(self.chat()[0], 200)
        (self.here / "fleet.yaml").write_text("version: 2\n")
        self.gateway.process.send_signal(signal.SIGHUP)
        services.until(lambda: "ace: not reloaded" in self.gateway.err(), 10, "it says nothing of a broken file")
        self.assertEqual(self.chat()[0], 200, "the old one is still in force")
        self.stop()
        self.ace("verify", "spine")

    def test_in_observe_nothing_changes_and_the_spine_says_what_could_have(self):
        self.start(mode="observe")
        self.assertEqual({place for _, place, _ in self.many(20)}, {"dear"})
        self.stop()
        self.ace("verify", "spine")
        self.assertEqual(json.loads(self.ace("ledger", "report", "spine", "--json"))["headline"]["grade"], "modelled")

    def test_what_is_paid_used_or_not_stands_in_the_ledger_until_a_process_dies_with_it(self):
        self.start(pool=True)
        self.many(5)
        self.stop()
        self.assertRegex(self.ace("verify", "spine"), "fixed")
        report = json.loads(self.ace("ledger", "report", "spine", "--json"))
        self.assertEqual(report["headline"]["fixed_usd"], "72.00", "one begun hour of two GPUs at 36 USD")
        self.assertEqual(report["ledger"]["fixed_cost_missing_s"], 0)
        self.assertIn("fully loaded (measured)", self.ace("ledger", "report", "spine"))

        spine = self.here / "spine"
        key = spine / "signing.pem"
        changed = 0
        for offset, kind, payload in spine_insider.records((spine / "00000001.seg").read_bytes()):
            other = spine_insider.another_amount(payload) if kind == 1 else None
            if other:
                changed += 1
                forged = self.here / f"cheaper{offset}"
                shutil.copytree(spine, forged)
                spine_insider.rewrite(forged, offset, other, key if key.exists() else None)
                ran = subprocess.run([ACE, "verify", forged], capture_output=True, text=True, check=False)
                self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
                self.assertIn(f"offset {offset}: expected rental of pool", ran.stderr)
        self.assertGreater(changed, 0)

        again = self.serve("again")
        self.many(3)
        time.sleep(0.05)  # all of it within a moment has no fixed cost to miss
        self.many(2)
        again.process.kill()
        again.process.wait(10)
        report = json.loads(self.ace("ledger", "report", "spine", "--json"))
        self.assertEqual(report["headline"]["fixed_usd"], "72.00")
        self.assertGreater(report["ledger"]["fixed_cost_missing_s"], 0)
        text = self.ace("ledger", "report", "spine")
        self.assertIn("before fixed cost that is not recorded", text)
        self.assertIn("fixed cost is too low", text)
        self.ace("verify", "spine")

    def test_a_kill_loses_nothing_that_a_client_was_answered(self):
        self.start()
        answered = [status for status, _, _ in self.many(40)].count(200)
        self.gateway.process.kill()
        self.gateway.process.wait(10)
        again = self.serve("again")
        self.assertEqual(self.chat()[0], 200)
        self.assertEqual(again.stop(), 0, again.err())
        found = re.search(r"([\d,]+) requests ended", self.ace("verify", "spine"))
        self.assertEqual(int(found.group(1).replace(",", "")), answered + 1)


if __name__ == "__main__":
    ACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
