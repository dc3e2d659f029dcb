#!/usr/bin/env python3
"""What stands around the proxy of `ace serve`, through real sockets: keys and their exchange, limits, budgets, the answer cache, the admin
API; that tenants see nothing of one another, and that no secret and no prompt is found where it should not be.

    edge_test.py ACE [unittest arguments]
"""
import base64
import concurrent.futures
import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request

import services

ACE = None
PROMPT = "canary-prompt-7f3a9c21 what does the next token cost"
USER = "canary-user-5b1e@example.com"
PROVIDER_KEY = "sk-canary-provider-0d4f8a7be1"


class Collector:
    """An OpenTelemetry collector that keeps what it is sent."""

    def __init__(self):
        kept = self.bodies = []

        class Keep(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                kept.append((self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keep)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def spans(self):
        return [{**span, "attributes": {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}}
                for path, body in self.bodies if path == "/v1/traces"
                for span in json.loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"]]


class Edge(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.here = pathlib.Path(scratch.name)
        self.secrets = []

    def ace(self, *arguments, code=0):
        ran = subprocess.run([ACE, *map(str, arguments)], cwd=self.here, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, code, f"ace {arguments}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def key(self, *arguments):
        """A new key: its id and the key itself."""
        made = json.loads(self.ace("keys", "new", "--json", *arguments))
        self.secrets.append(made["key"])
        return made["id"], made["key"]

    def start(self, script=None, budgets="", more=""):
        self.upstream = services.Provider(ACE, self.here, "provider", {"tokens": 8, "keys": [PROVIDER_KEY], **(script or {})})
        self.addCleanup(self.upstream.stop)
        (self.here / "fleet.yaml").write_text(f"""version: 1
providers:
  home: {{jurisdictions: [eu], api: openai, url: "http://127.0.0.1:{self.upstream.port}", key: {{env: CANARY_KEY}}}}
prices:
  - home/m: {{input: "1 USD/Mtok", output: "2 USD/Mtok", source: "a test", as_of: 2026-11-01}}
models:
  m: {{context: 100000, baseline: {{destination: api, price_key: home/m, as_of: 2026-11-01, contracted: true}}}}
slo_classes: {{chat: {{ttft: 5s}}}}
compliance: {{eu-only: {{jurisdictions: [eu]}}, us-only: {{jurisdictions: [us]}}}}
tenants: {{acme: {{}}, beta: {{}}}}
{budgets}
destinations:
  - {{id: api, tier: payg, provider: home, models: [m], price_key: home/m, unlimited: true}}
""")
        self.port, self.admin_port = services.free_port(), services.free_port()
        (self.here / "ace.yaml").write_text(
            f"version: 1\nfleet: fleet.yaml\nspine: {{dir: spine}}\nlisten: {{port: {self.port}}}\nadmin: {{port: {self.admin_port}}}\n"
            f"threads: 2\nkeys: keys.yaml\nmode: inline\n{more}")
        self.gateway = services.Service([ACE, "serve", "--config", "ace.yaml"], self.here, "gateway", env={"CANARY_KEY": PROVIDER_KEY})
        self.addCleanup(self.gateway.stop)
        self.gateway.wait_for_port(self.port)

    def ask(self, key=None, fields=None, path="/v1/chat/completions", port=None, method="POST", body=None, **more):
        """Status, head and text of an answer."""
        if body is None and method == "POST":
            body = {"model": "m", "max_tokens": 8, "user": USER, "messages": [{"role": "user", "content": PROMPT}], **more}
        head = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {}), **(fields or {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port or self.port}{path}", data, head, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def admin(self, key, path, method="GET", body=None):
        status, _, text = self.ask(key, path=path, port=self.admin_port, method=method, body=body)
        return status, json.loads(text) if text.startswith(("{", "[")) else text

    def test_a_key_opens_what_it_may_and_nothing_says_why_another_does_not(self):
        _, good = self.key("--tenant", "acme", "--operation", "chat_completions")
        _, other_model = self.key("--tenant", "acme", "--model", "another")
        _, admin = self.key("--admin")
        self.start()
        self.assertEqual(self.ask(good)[0], 200)
        self.assertEqual(self.ask(fields={"x-api-key": good})[0], 200)
        refusals = set()
        for key in (None, "x", good[:-1] + ("0" if good[-1] != "0" else "1"), admin, "ace_sk_" + "0" * 38):
            status, _, text = self.ask(key)
            self.assertEqual(status, 401, text)
            refusals.add(text)
        self.assertEqual(len(refusals), 1, refusals)
        self.assertEqual(self.ask(good, fields={"x-api-key": admin})[0], 401, "two keys are none")
        self.assertEqual(self.ask(other_model)[0], 403)
        self.assertEqual(self.ask(good, path="/v1/embeddings", body={"model": "m", "input": "x"})[0], 403)

    def test_a_secret_is_exchanged_with_an_overlap_and_ended_without_a_restart(self):
        name, first = self.key("--tenant", "acme")
        _, admin = self.key("--admin")
        self.start()
        status, made = self.admin(admin, f"/v1/keys/{name}/rotate", "POST", {"overlap_seconds": 3600})
        self.assertEqual(status, 200, made)
        self.assertEqual([self.ask(key)[0] for key in (first, made["key"])], [200, 200])
        status, last = self.admin(admin, f"/v1/keys/{name}/rotate", "POST", {"overlap_seconds": 0})
        self.assertEqual([self.ask(key)[0] for key in (first, made["key"], last["key"])], [401, 401, 200], "both before it end")
        self.ace("keys", "revoke", name)
        services.until(lambda: self.ask(last["key"])[0] == 401, 10, "a key that was revoked on the disk still opens")
        self.assertEqual(self.admin(last["key"], "/v1/keys")[0], 401, "a client's key steers nothing")
        self.assertEqual(self.ask(admin)[0], 401, "and an admin's asks nothing")

    def test_limits_hold_to_the_last_request_and_say_how_long(self):
        _, few = self.key("--tenant", "acme", "--rpm", "5")
        _, free = self.key("--tenant", "beta")
        self.start()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: self.ask(few), range(40)))
        self.assertEqual([status for status, _, _ in answers].count(200), 5)
        _, head, text = next(answer for answer in answers if answer[0] == 429)
        wait = int(head["retry-after-ms"])
        self.assertTrue(0 < wait <= 12_000, f"five a minute: one every 12 s, not {wait} ms")
        self.assertEqual(int(head["Retry-After"]), (wait + 999) // 1000)
        self.assertEqual(self.ask(free)[0], 200, "another's key has its own limits")

    def test_a_budget_that_fits_a_few_lets_exactly_those_through(self):
        _, key = self.key("--tenant", "acme")
        # The prompt is some 25 tokens at 1 USD/Mtok, the answer 8 at 2: 100 requests at once cannot all be held.
        self.start(script={"ttft": "1500ms"}, budgets='budgets: {tight: {tenant: acme, window: month, limit: "0.000200 USD", enforce: hard}}')
        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            answers = list(pool.map(lambda _: self.ask(key), range(100)))
        served = [answer for answer in answers if answer[0] == 200]
        refused = [answer for answer in answers if answer[0] == 429]
        self.assertEqual(len(served) + len(refused), 100, {status for status, _, _ in answers})
        self.assertIn("budget", refused[0][2])
        self.assertGreater(len(served), 0)
        spent = sum(float(head["x-ace-cost-usd"]) for _, head, _ in served)
        self.assertLessEqual(spent, 0.000200)
        self.assertEqual(self.gateway.stop(), 0)
        self.assertEqual(len(self.upstream.seen()), len(served), "what was refused was asked of nobody")

    def test_tenants_share_no_answer_and_no_place_in_a_providers_cache(self):
        _, acme = self.key("--tenant", "acme")
        _, beta = self.key("--tenant", "beta")
        self.start(more="cache: {ttl: 1h}\n")
        question = {"temperature": 0}
        self.assertEqual([self.ask(acme, **question)[1]["x-ace-cache"] for _ in range(4)], [None, None, "hit", "hit"])
        asked = len(self.upstream.seen())
        _, head, _ = self.ask(beta, **question)
        self.assertIsNone(head["x-ace-cache"], "the same question of another tenant")
        self.assertEqual(len(self.upstream.seen()), asked + 1)
        self.assertIsNone(self.ask(acme, fields={"x-ace-compliance": "eu-only"}, **question)[1]["x-ace-cache"], "or under another rule")
        self.assertIsNone(self.ask(acme, temperature=1)[1]["x-ace-cache"])
        self.assertEqual(self.gateway.stop(), 0)
        self.ace("verify", "spine")

    def test_a_rule_can_be_tightened_and_never_loosened(self):
        _, eu = self.key("--tenant", "acme", "--compliance", "eu-only")
        _, us = self.key("--tenant", "acme", "--compliance", "us-only")
        self.start()
        self.assertEqual(self.ask(eu)[0], 200)
        status, _, text = self.ask(us)
        self.assertEqual(status, 403, text)
        self.assertNotEqual(self.ask(us, fields={"x-ace-compliance": "eu-only"})[0], 200, "a header does not undo the key's rule")
        self.assertEqual(self.upstream.seen()[-1]["outcome"], "answered")
        self.assertEqual(len(self.upstream.seen()), 1)

    def test_the_admin_api_shows_what_happened(self):
        _, key = self.key("--tenant", "acme")
        _, admin = self.key("--admin")
        self.start(budgets='budgets: {wide: {tenant: acme, window: month, limit: "5 USD", enforce: hard}}')
        request_id = self.ask(key)[1]["x-request-id"]
        self.assertEqual(self.ask(None)[0], 401)
        _, decisions = self.admin(admin, "/v1/decisions?limit=5")
        self.assertEqual(decisions["decisions"][0]["request_id"], request_id)
        self.assertEqual(decisions["decisions"][0]["destination"], "api")
        _, curve = self.admin(admin, "/v1/supply-curve?model=m")
        self.assertEqual(curve["steps"][0]["destination"], "api")
        _, health = self.admin(admin, "/v1/health")
        self.assertEqual(health["destinations"][0]["state"], "healthy")
        _, budgets = self.admin(admin, "/v1/budgets")
        self.assertGreater(float(budgets["budgets"][0]["spent_usd"]), 0)
        self.assertEqual(self.admin(admin, "/v1/mode")[1]["mode"], "inline")
        _, metrics = self.admin(None, "/metrics")
        self.assertIn('ace_requests_total{operation="chat_completions",outcome="served"} 1', metrics)
        self.assertIn('ace_destination_requests_total{destination="api"} 1', metrics)
        _, description = self.admin(None, "/openapi.json")
        for path, methods in description["paths"].items():
            if "get" in methods and "{id}" not in path:
                status, _ = self.admin(admin, path + ("?model=m" if path == "/v1/supply-curve" else ""))
                self.assertEqual(status, 200, path)
        config = self.admin(admin, "/v1/config")[1]["config"]
        self.assertEqual(config, (self.here / "ace.yaml").read_text())
        self.assertFalse(self.admin(admin, "/v1/config/validate", "POST", {"config": "version: 2\n"})[1]["valid"])
        self.assertEqual(self.admin(admin, "/v1/drain", "POST")[0], 202)
        services.until(lambda: not self.gateway.alive(), 15, "it did not drain")
        self.assertEqual(self.gateway.process.returncode, 0, self.gateway.err())

    def test_a_collector_is_told_of_each_request_and_nobody_waits_for_it(self):
        _, key = self.key("--tenant", "acme")
        collector = Collector()
        self.addCleanup(collector.stop)
        self.start(more=f'telemetry: {{endpoint: "{collector.url}"}}\n')
        trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
        self.ask(key, fields={"traceparent": f"00-{trace}-{parent}-01"}, stream=True)
        self.ask(key, fields={"traceparent": f"00-{trace}-{parent}-00"})
        self.ask("x")
        self.assertEqual(self.gateway.stop(), 0)
        spans = collector.spans()
        self.assertEqual(len(spans), 2, "one was not sampled")
        served = next(span for span in spans if span["traceId"] == trace)
        self.assertEqual(served["parentSpanId"], parent)
        self.assertEqual(served["name"], "chat m")
        self.assertEqual(served["attributes"]["gen_ai.provider.name"], "openai")
        self.assertEqual(served["attributes"]["gen_ai.usage.output_tokens"], "8")
        self.assertEqual(served["attributes"]["ace.destination"], "api")
        self.assertIn("gen_ai.response.time_to_first_chunk", served["attributes"])
        refused = next(span for span in spans if span["traceId"] != trace)
        self.assertEqual(refused["attributes"]["error.type"], "invalid_key")
        self.assertIn("/v1/metrics", {path for path, _ in collector.bodies})

    def test_no_secret_no_prompt_and_no_user_is_found_where_it_should_not_be(self):
        name, key = self.key("--tenant", "acme", "--rpm", "6")
        _, admin = self.key("--admin")
        collector = Collector()
        self.addCleanup(collector.stop)
        self.start(script={"faults": [{"do": "status", "at": [2], "status": 400, "text": '{"error": {"message": "' + PROVIDER_KEY + '"}}'}]},
                   more=f'cache: {{ttl: 1h}}\ntelemetry: {{endpoint: "{collector.url}"}}\n')
        texts = []
        wrong = "ace_sk_" + "Wr0ngKey" * 4 + "000000"
        self.secrets.append(wrong)
        for ask in (lambda: self.ask(key), lambda: self.ask(key), lambda: self.ask(wrong), lambda: self.ask(key, stream=True),
                    lambda: self.ask(key, model="unknown-model"), lambda: self.ask(key, body={"model": "m", "messages": PROMPT})):
            status, head, text = ask()
            if status != 200:
                texts.append(("an error", f"{head}{text}"))
        for _ in range(6):
            status, head, text = self.ask(key)
        texts.append(("a refusal", f"{head}{text}"))
        for path in ("/metrics", "/v1/keys", "/v1/decisions", "/v1/fleet", "/v1/config", "/v1/health", "/v1/budgets"):
            texts.append((path, str(self.admin(admin, path)[1])))
        exchanged = self.admin(admin, f"/v1/keys/{name}/rotate", "POST", {})[1]["key"]
        self.secrets.append(exchanged)
        self.assertEqual(self.gateway.stop(), 0)
        self.ace("verify", "spine")
        texts.extend(("the collector", body) for _, body in collector.bodies)
        self.assertGreater(len(collector.bodies), 0)
        for path in self.here.rglob("*"):
            # The script of the provider and what it prints are of the other side.
            if path.is_file() and not path.name.startswith("provider"):
                texts.append((path.name, path.read_bytes().decode("latin-1")))
        forbidden = {PROMPT, USER, "canary-prompt-7f3a9c21", PROVIDER_KEY}
        for secret in self.secrets:
            forbidden.add(secret)
            forbidden.update(secret[at:at + 8] for at in range(7, len(secret) - 7))
        for word in list(forbidden):
            forbidden.add(base64.b64encode(word.encode()).decode().rstrip("=")[:-1])
            forbidden.add(word.encode().hex())
            forbidden.add(urllib.parse.quote(word))
        found = re.compile("|".join(re.escape(word) for word in sorted(forbidden)))
        for where, text in texts:
            hit = found.search(text)
            self.assertIsNone(hit, f"in {where}: {hit and hit.group()}")


if __name__ == "__main__":
    ACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
