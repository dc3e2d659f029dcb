#!/usr/bin/env python3
"""Paths that nobody reads (docs/PROVIDERS.md): images, audio, files and batches through `ace serve`, byte for byte, to who declares them
and may see them, within limits, and on the spine without a price.

    gateway_unread_test.py ACE [unittest arguments]
"""
import contextlib
import http.client
import http.server
import json
import pathlib
import sys
import tempfile
import threading
import time
import unittest

import gateway_world
import services

ACE = None
BOUNDARY = "----x7"
MULTIPART = (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'.encode()
             + bytes(range(256)) * 64 + f"\r\n--{BOUNDARY}--\r\n".encode())


class Upstream(http.server.ThreadingHTTPServer):
    """Remembers what it was asked, and answers what it is told to."""

    daemon_threads = True

    def __init__(self):
        self.asked, self.answer = [], lambda request: (200, {"Content-Type": "application/json"}, b'{"id":"x"}')
        self.hold = threading.Event()
        self.hold.set()
        self.gone = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = {"method": self.command, "target": self.path, "fields": {k.lower(): v for k, v in self.headers.items()}, "body": body}
        self.server.asked.append(request)
        if not self.server.hold.is_set():
            self.connection.settimeout(10)
            if self.connection.recv(1) == b"":  # what comes before an answer is the end of who asked
                self.server.gone.set()
            self.close_connection = True
            return
        status, fields, text = self.server.answer(request)
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = any

    def handle(self):
        with contextlib.suppress(ConnectionError):  # kept connections are closed from both sides
            super().handle()

    def log_message(self, *_):
        pass


class Unread(unittest.TestCase):
    def start(self, keys=("acme", "strict"), config="", fleet_more=""):
        scratch = tempfile.TemporaryDirectory(prefix="ace_unread_")
        self.addCleanup(scratch.cleanup)
        self.first, self.second = Upstream(), Upstream()
        self.addCleanup(self.first.server_close)
        self.addCleanup(self.second.server_close)
        places = [gateway_world.Place("first", self.first.url, surfaces="/v1/images, /v1/audio, /v1/files, /v1/batches"),
                  gateway_world.Place("second", self.second.url, usd=2.0, jurisdiction="us", surfaces="/v1/files")]
        self.gateway = gateway_world.Gateway(
            ACE, scratch.name, places, keys=keys, admin=True, config=config,
            tenants="acme: {}\nstrict: {compliance: us-only}\nbound: {}",
            fleet_more="compliance: {us-only: {jurisdictions: [us]}}\n" + fleet_more)
        self.addCleanup(self.gateway.stop)

    def ask(self, method, target, body=None, tenant="acme", fields=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=20)
        self.addCleanup(connection.close)
        key = {"Authorization": f"Bearer {self.gateway.keys[tenant]}"} if tenant else {}
        connection.request(method, target, body, {**key, **(fields or {})})
        answer = connection.getresponse()
        return answer, answer.read()

    def metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.admin_port, timeout=5)
        self.addCleanup(connection.close)
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()

    def test_method_target_and_body_go_on_as_they_are_and_so_does_the_answer(self):
        self.start()
        picture = bytes(range(256)) * 4000
        self.first.answer = lambda request: (200, {"Content-Type": "image/png", "openai-organization": "org-secret", "x-secret": "1"}, picture)
        answer, body = self.ask("POST", "/v1/images/edits?size=1", MULTIPART, fields={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
                                                                                   "x-ms-spillover-deployment": "theirs"})
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "image/png"), body[:300])
        self.assertEqual(body, picture)
        self.assertEqual(answer.headers["x-ace-destination"], "first")
        self.assertNotIn("openai-organization", answer.headers)
        self.assertNotIn("x-secret", answer.headers)
        (asked,) = self.first.asked
        self.assertEqual((asked["method"], asked["target"], asked["body"]), ("POST", "/v1/images/edits?size=1", MULTIPART))
        self.assertEqual(asked["fields"]["content-type"], f"multipart/form-data; boundary={BOUNDARY}")
        self.assertEqual(asked["fields"]["authorization"], f"Bearer {self.gateway.places[0].key}")
        self.assertEqual(asked["fields"]["x-request-id"], answer.headers["x-request-id"])
        self.assertNotIn("x-ms-spillover-deployment", asked["fields"])
        for method, target in (("GET", "/v1/files?limit=2"), ("DELETE", "/v1/files/file-1"), ("GET", "/v1/batches/b1"), ("POST", "/v1/audio/speech")):
            answer, body = self.ask(method, target, b"{}" if method == "POST" else None)
            self.assertEqual(answer.status, 200, (target, body[:300]))
            self.assertEqual((self.first.asked[-1]["method"], self.first.asked[-1]["target"]), (method, target))
        identifier = answer.headers["x-request-id"]
        self.assertIn('ace_unread_requests_total{destination="first",outcome="served"} 5', self.metrics())
        self.gateway.stop()
        explained = self.gateway.run("explain", identifier, "--spine", self.gateway.spine)
        self.assertIn("handed on unread", explained)
        said = [e for e in self.gateway.events() if e["kind"] == "passed"]
        self.assertEqual(len(said), 10, "each before it was sent and when it had ended")
        verified = json.loads(self.gateway.run("verify", self.gateway.spine, "--json"))
        self.assertEqual(verified["decisions"]["requests_unpriced"], 5)
        self.assertEqual(verified["decisions"]["requests"], 0)
        report = json.loads(self.gateway.run("ledger", "report", self.gateway.spine, "--json"))
        self.assertEqual(report["ledger"]["requests_unpriced"], 5)

    def test_it_goes_only_where_the_path_is_declared_and_the_rule_allows(self):
        self.start()
        answer, body = self.ask("GET", "/v1/videos")
        self.assertEqual(answer.status, 404)
        self.assertIn("surfaces", json.loads(body)["error"]["message"])
        for path in ("/v1/files/../chat", "/v1/files//x", "/v1/files/%2e%2e/x"):
            self.assertEqual(self.ask("GET", path)[0].status, 404, path)
        answer, _ = self.ask("GET", "/v1/files", tenant="strict")
        self.assertEqual((answer.status, answer.headers["x-ace-destination"]), (200, "second"), "the first is not of the us")
        answer, _ = self.ask("GET", "/v1/files", fields={"x-ace-compliance": "us-only"})
        self.assertEqual((answer.status, answer.headers["x-ace-destination"]), (200, "second"))
        self.assertEqual(self.first.asked, [])
        answer, body = self.ask("POST", "/v1/images/generations", b"{}", tenant="strict")
        self.assertEqual((answer.status, json.loads(body)["error"]["code"]), (403, "no_compliant_destination"), "only the first has images")
        self.assertEqual(self.ask("GET", "/v1/files", tenant=None)[0].status, 401)
        self.assertEqual(self.first.asked, [])

    def test_what_providers_refuse_comes_through_and_what_they_say_of_our_key_does_not(self):
        self.start()
        key = self.gateway.places[0].key
        for status, told in ((404, 404), (429, 429), (500, 500), (401, 502), (403, 502), (302, 502)):
            text = json.dumps({"error": {"message": f"{status} {key}"}}).encode()
            self.first.answer = lambda request, status=status, text=text: (status, {"Content-Type": "application/json", "retry-after-ms": "1500", "location": "/x"}, text)
            answer, body = self.ask("GET", "/v1/files/f")
            self.assertEqual(answer.status, told, body)
            self.assertNotIn(key.encode(), body)
            self.assertNotIn("location", answer.headers)
            if status == 429:
                self.assertEqual((answer.headers["retry-after-ms"], answer.headers["x-should-retry"]), ("1500", "true"))
        self.first.shutdown()
        self.first.server_close()
        answer, body = self.ask("GET", "/v1/files/f")
        self.assertEqual(answer.status, 502)
        # The connection that was kept may be found to have ended before a new one is refused.
        self.assertIn(json.loads(body)["error"]["code"], ("upstream_unreachable", "upstream_reset"))
        self.assertEqual(self.second.asked, [], "another destination does not have those files")

    def test_bodies_time_and_money_are_bounded_and_who_leaves_is_noticed(self):
        self.start(keys=("acme", "bound"), config="body_bytes: 65536\ntimeouts: {total: 2s}\n",
                   fleet_more='budgets:\n  bound-month: {tenant: bound, limit: 5 USD, window: month}\n')
        answer, _ = self.ask("POST", "/v1/files", b"x" * 70000)
        self.assertEqual(answer.status, 413)
        answer, body = self.ask("POST", "/v1/files", b"{}", tenant="bound")
        self.assertEqual((answer.status, json.loads(body)["error"]["code"]), (403, "unpriced_under_budget"))
        self.assertEqual(self.first.asked, [])
        self.first.hold.clear()
        began = time.monotonic()
        answer, body = self.ask("POST", "/v1/files", b"{}")
        self.assertEqual((answer.status, json.loads(body)["error"]["code"]), (504, "upstream_timeout"))
        self.assertLess(time.monotonic() - began, 10)
        self.first.gone.clear()
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=5)
        connection.request("POST", "/v1/files", b"{}", {"Authorization": f"Bearer {self.gateway.keys['acme']}"})
        services.until(lambda: len(self.first.asked) == 2, what="it came upstream")
        connection.close()
        self.assertTrue(self.first.gone.wait(5), "the provider is told that nobody waits")
        services.until(lambda: 'outcome="client_left"} 1' in self.metrics(), what="it was counted")


if __name__ == "__main__":
    ACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
