#!/usr/bin/env python3
"""Tenants beside each other, their secrets and their budgets, over real sockets against `ace serve`.

    gateway_tenants_test.py ACE [unittest arguments]
"""
import base64
import concurrent.futures
import json
import pathlib
import resource
import sys
import unittest
import urllib.parse

import gateway_world
import services
from gateway_world import CLAUDE, Gateway, Place
from services import Provider, request_bytes

ACE = None
TENANTS = "acme: {slo: chat}\nlabs: {slo: chat}"


def allow_core_dumps():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


class Case(unittest.TestCase):
    def world(self, script=None, places=None, **gateway):
        self.folder = self.enterContext(gateway_world.folder())
        self.provider = self.enterContext(Provider(ACE, self.folder, script=script))
        self.places = (places or (lambda url: [Place("near", url)]))(self.provider.url)
        self.gateway = self.enterContext(Gateway(ACE, self.folder, self.places, tenants=TENANTS, keys=("acme", "labs"), **gateway))

    def ask(self, tenant, seconds=20, key=None, **body):
        asked = {"model": "large", "messages": [{"role": "user", "content": "hi"}], **body}
        return services.exchange(self.gateway.port, request_bytes("/v1/chat/completions", asked, key or self.gateway.keys[tenant]), seconds)

    def ask_at_once(self, tenant, count, **body):
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            return list(pool.map(lambda _: self.ask(tenant, **body), range(count)))


class Budgets(Case):
    def test_of_many_requests_at_once_exactly_as_many_are_served_as_the_budget_has_room_for(self):
        # A request holds at most 1,000 tokens x 4 USD/Mtok = 0.0040 USD for its answer and 0.0001 for its prompt.
        for room, limit in ((10, "0.0415"), (3, "0.0125"), (0, "0.0030")):
            self.world({"ttft": "2500ms"}, fleet_more=f'budgets: {{b: {{tenant: acme, window: total, limit: "{limit} USD"}}}}\n')
            answers = self.ask_at_once("acme", 60, max_tokens=1000)
            self.assertEqual(sorted(a.status for a in answers), [200] * room + [429] * (60 - room))
            refused = [a for a in answers if a.status != 200]
            self.assertEqual({a.code for a in refused}, {"budget_exceeded"})
            self.assertEqual({a.fields.get("x-should-retry") for a in refused}, {"false"})
            self.assertEqual(len(self.provider.seen()), room, "what is refused goes nowhere")
            self.assertEqual(self.ask("labs").status, 200, "it is not the others' budget")
            self.gateway.stop()
            self.gateway.run("verify", self.gateway.spine)
            spent = sum(usage.get(0, 0) * 1_000 + usage.get(4, 0) * 4_000 for s in self.gateway.stories().values() for _, usage in s["ends"])
            report = json.loads(self.gateway.run("ledger", "report", self.gateway.spine, "--json"))
            self.assertEqual(nano(report["headline"]["actual_marginal_usd"]), spent, "what the events say, the report says")


def nano(usd):
    whole, _, part = usd.partition(".")
    return int(whole) * 10**9 + int((part + "0" * 9)[:9])


class Beside(Case):
    def answers_of_acme(self):
        out = []
        for number in range(12):
            stream = number % 3 == 2
            answer = self.ask("acme", messages=[{"role": "user", "content": f"question {number}"}], seed=number, stream=stream)
            self.assertEqual(answer.status, 200)
            out.append(answer.events() if stream else answer.json["choices"])
        return out

    def test_what_one_tenant_gets_does_not_depend_on_the_other(self):
        self.world({"tokens": 8})
        alone = [self.without_ids(a) for a in self.answers_of_acme()]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            crowd = [pool.submit(self.ask, "labs", messages=[{"role": "user", "content": f"question {n % 12}"}], seed=n % 12) for n in range(200)]
            beside = [self.without_ids(a) for a in self.answers_of_acme()]
            self.assertEqual({f.result().status for f in crowd}, {200})
        self.assertEqual(beside, alone)

    @staticmethod
    def without_ids(answer):
        text = json.dumps([json.loads(e) if isinstance(e, str) and e.startswith("{") else e for e in answer])
        return json.loads(text, object_hook=lambda o: {k: v for k, v in o.items() if k not in ("id", "created")})

    def test_what_goes_upstream_for_one_tenant_has_nothing_of_the_other(self):
        self.world()
        self.ask("acme", user="acme-user", metadata={"a": "acme-canary"})
        self.ask("labs", user="labs-user", metadata={"a": "labs-canary"})
        for request, other in zip(self.provider.seen(), ("labs", "acme")):
            self.assertNotIn(other, json.dumps(request))


class Secrets(Case):
    PROMPT = "prompt-canary-19d4e8b7c2"
    ANSWER = "answer-canary-55aa10ffee"
    USER = "user-canary-0b1c2d3e4f@example.com"

    def spellings(self, secret):
        """As it is, encoded, and every eight characters of its random part."""
        raw = secret.encode()
        tail = secret.rsplit("-", 1)[-1] if "-" in secret else secret[-16:]
        out = {raw, base64.b64encode(raw).rstrip(b"="), base64.urlsafe_b64encode(raw).rstrip(b"="), raw.hex().encode(), raw.hex().upper().encode(),
               urllib.parse.quote(secret, safe="").encode()}
        return out | {tail[i:i + 8].encode() for i in range(len(tail) - 7)}

    def test_no_secret_shows_up_in_output_errors_metrics_ledger_or_the_admin_side(self):
        script = {"models": ["large"], "keys": ["nothing that we send"]}  # each request is refused with a 401 upstream
        self.world(script, lambda url: [Place("near", url), Place("claude", url, "anthropic", CLAUDE)], admin=True, preexec_fn=allow_core_dumps)
        bad = [self.gateway.keys["acme"][:-6] + "XYZXYZ", "sk-another-canary-3c4d5e6f70"]
        said = []
        for round_ in range(2):
            for key in [self.gateway.keys["acme"], self.gateway.keys["labs"], *bad]:
                for more in ({}, {"stream": True}, {"max_tokens": "no"}, {"model": "unknown"}, {"api_key": bad[1]}):
                    body = {"messages": [{"role": "user", "content": self.PROMPT}], "user": self.USER, **more}
                    answer = self.ask(None, key=key, **body)
                    said.append(str(answer.fields).encode() + answer.body)
            text = '{"error":{"message":"key ' + self.places[0].key + ' is bad","type":"x","code":"y"}}'
            self.provider.follow({"faults": [{"do": "status", "every": 2, "status": 401 if round_ else 400, "text": text}]})
        admin = {}
        for path in ("/metrics", "/openapi.json", "/v1/fleet", "/v1/health", "/v1/supply-curve?model=large", "/v1/decisions", "/v1/budgets", "/v1/keys", "/v1/mode", "/v1/config"):
            answer = services.exchange(self.gateway.admin_port, request_bytes(path, key=self.gateway.admin_key))
            self.assertEqual(answer.status, 200, f"{path}: {answer.body[:300]}")
            admin[path] = str(answer.fields).encode() + answer.body
        self.assertIn(b"ace_", admin["/metrics"], "there are metrics to look at")
        core = pathlib.Path(f"/proc/{self.gateway.pid}/limits").read_text().partition("Max core file size")[2].split()[0]
        self.assertEqual(core, "0", "a core dump would hold every key")
        self.gateway.stop()
        places = {"standard output": self.gateway.out().encode(), "standard error": self.gateway.err().encode(), "what clients saw": b"\n".join(said), **admin}
        for path in self.gateway.spine.rglob("*"):
            if path.is_file() and path.name != "signing.pem":
                places[f"spine {path.name}"] = path.read_bytes()
        self.assertGreater(len(places), 10)
        keys = [p.key for p in self.places] + [*self.gateway.keys.values(), self.gateway.admin_key, *bad]
        for secret in [*keys, self.PROMPT, self.USER]:
            for spelling in self.spellings(secret):
                for where, data in places.items():
                    if where == "what clients saw" and secret in (self.PROMPT, self.USER):
                        continue  # it is theirs
                    self.assertFalse(spelling in data, f"{secret} shows in {where} as {spelling!r}")


if __name__ == "__main__":
    ACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
