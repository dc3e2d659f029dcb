#!/usr/bin/env python3
"""Bad requests over real sockets against `ace serve`: each gets its status in the shape of the API, and nothing goes upstream.

    gateway_inputs_test.py ACE [PART OF A NAME]...
"""
import contextlib
import pathlib
import socket
import sys
import traceback

import gateway_world
import services
from gateway_bad_requests import CHAT, HTTP, JSON, KEY
from gateway_world import CLAUDE, Gateway, Place
from services import Provider

ECHO_MAX = 700  # bytes of an error: our words, and at most 64 characters of theirs


class Talk:
    """What came back on one connection. @param ends  the client sends no more  @param closes  wait for the other side to close"""

    def __init__(self, port, data, ends=False, closes=False, seconds=15):
        self.raw, self.closed = b"", not closes
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.settimeout(seconds)
            with contextlib.suppress(ConnectionError):  # it may answer and close before it has read all of it
                connection.sendall(data)
                if ends:
                    connection.shutdown(socket.SHUT_WR)
            self.answer, behind = services.read_answer(self.recording(connection))
            assert not behind, f"something behind the answer: {behind[:200]!r}"
            connection.settimeout(3)
            with contextlib.suppress(TimeoutError):
                try:
                    self.closed = self.closed or connection.recv(1) == b""
                except ConnectionError:
                    self.closed = True

    def recording(self, connection):
        talk = self

        class Recording:
            def recv(self, size):
                data = connection.recv(size)
                talk.raw += data
                return data

        return Recording()


def check_error(answer):
    assert len(answer.body) <= ECHO_MAX, f"{len(answer.body)} bytes of error"
    error = answer.json["error"]
    assert error["message"] and error["type"] and error["code"], error
    assert not any(ord(c) < 32 or ord(c) == 127 for c in error["message"]), error


def check_http(world, case):
    before = len(world.provider.seen())
    talk = Talk(world.gateway.port, case.data.replace(KEY.encode(), world.key.encode()), case.ends, case.closes and not case.good)
    reached = len(world.provider.seen()) - before
    if not case.status:
        assert talk.answer is None and reached == 0, f"{talk.raw[:300]!r}, {reached} upstream"
        return
    assert talk.answer is not None, f"no answer: {talk.raw[:300]!r}"
    seen = f"{talk.answer.status} {talk.answer.body[:300]!r}"
    assert talk.answer.status in case.status, f"expected {case.status}, came {seen}"
    assert b" 100 Continue" not in talk.raw, "it asked for a body that it refuses"
    good = talk.answer.status == 200 if case.good is None else case.good
    assert reached == (1 if good else 0), f"{reached} requests went upstream; {seen}"
    if talk.answer.status >= 400:
        check_error(talk.answer)
        assert case.code is None or talk.answer.code == case.code, f"expected {case.code}, came {seen}"
        assert talk.closed, f"the connection stays open: {seen}"


def check_json(world, case):
    before = len(world.provider.seen())
    talk = Talk(world.gateway.port, services.request_bytes(case.path, case.body, world.key, case.fields))
    assert talk.answer is not None, "no answer"
    seen = f"{talk.answer.status} {talk.answer.body[:300]!r}"
    assert talk.answer.status == case.status, f"expected {case.status}, came {seen}"
    check_error(talk.answer)
    assert (talk.answer.json.get("type") == "error") == case.path.startswith("/v1/messages"), f"not the shape of this API: {seen}"
    assert case.code is None or talk.answer.code == case.code, f"expected {case.code}, came {seen}"
    assert case.says in talk.answer.json["error"]["message"], f"expected {case.says!r}, came {seen}"
    assert len(world.provider.seen()) == before, "it went upstream"


def chat(world, more=None, fields=(), **body):
    return Talk(world.gateway.port, services.request_bytes("/v1/chat/completions", {"model": "large", "messages": [{"role": "user", "content": "hi"}], **body}, world.key, fields))


def check_usage_that_the_client_did_not_want(world):
    """J13"""
    world.provider.follow(world.script)
    talk = chat(world, stream=True, stream_options={"include_usage": False})
    assert talk.answer.status == 200 and b'"usage":{' not in talk.answer.body, talk.answer.body
    [seen] = world.provider.seen()
    assert b'"include_usage":true' in seen["body"].replace(" ", "").encode(), seen["body"]


def check_fields_that_do_not_go_on(world):
    """H31, H40, H42: neither direction passes on what is for one hop, for the proxy, or secret."""
    world.provider.follow({**world.script, "fields": {"Set-Cookie": "a=b", "Location": "/x", "OpenAI-Organization": "org-1", "X-RateLimit-Remaining-Tokens": "5", "Authorization": "Bearer back"}})
    sent = ("X-Forwarded-For: 1.2.3.4", "Forwarded: for=1.2.3.4", "X-Real-IP: 1.2.3.4", "X-Ace-Tenant: other", "Range: bytes=0-1", "If-None-Match: x",
            "Cookie: a=" + "b" * 7000, "X-Portkey-Custom-Host: http://127.0.0.1:1", "Connection: X-Thing", "X-Thing: 1", "OpenAI-Organization: org-mine")
    talk = chat(world, fields=sent)
    assert talk.answer.status == 200, talk.answer.body
    for name in ("set-cookie", "location", "openai-organization", "x-ratelimit-remaining-tokens", "authorization"):
        assert name not in talk.answer.fields, f"{name} came back"
    [seen] = world.provider.seen()
    names = {name.lower() for name, _ in seen["fields"]}
    leaked = names & {"x-forwarded-for", "forwarded", "x-real-ip", "x-ace-tenant", "range", "if-none-match", "cookie", "x-portkey-custom-host", "x-thing", "openai-organization"}
    assert not leaked, f"{leaked} went upstream"
    authorization = [value for name, value in seen["fields"] if name.lower() == "authorization"]
    assert authorization == [f"Bearer {world.places[0].key}"], authorization
    world.provider.follow(world.script)


def check_a_model_in_a_header(world):
    """H44"""
    talk = chat(world, model="a\r\nSet-Cookie: x")
    assert talk.answer.status == 404 and "set-cookie" not in talk.answer.fields, talk.raw


def check_two_requests_on_one_connection(world):
    world.provider.follow(world.script)
    data = services.request_bytes("/v1/chat/completions", CHAT.encode(), world.key)
    with socket.create_connection(("127.0.0.1", world.gateway.port), 5) as connection:
        connection.settimeout(10)
        connection.sendall(data * 3)
        behind = b""
        for _ in range(3):
            answer, behind = services.read_answer(connection, behind)
            assert answer.status == 200, answer.body
    assert len(world.provider.seen()) == 3


class World:
    script = {"models": ["large", "claude-large"]}


def main():
    ace, parts = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    world = World()
    cases = [(f"{c.id} {c.why}", lambda c=c: check_http(world, c)) for c in HTTP] + [(f"{c.id} {c.why}", lambda c=c: check_json(world, c)) for c in JSON]
    cases += [(name, lambda f=f: f(world)) for name, f in globals().items() if name.startswith("check_") and f not in (check_error, check_http, check_json)]
    chosen = [(name, run) for name, run in cases if not parts or any(part in name for part in parts)]
    failed = 0
    with gateway_world.folder() as folder, Provider(ace, folder, script=world.script) as world.provider:
        world.places = [Place("near", world.provider.url), Place("claude", world.provider.url, "anthropic", CLAUDE)]
        with Gateway(ace, folder, world.places, tenants="acme: {slo: chat}", keys=("acme",)) as world.gateway:
            world.key = world.gateway.keys["acme"]
            for name, run in chosen:
                try:
                    run()
                except Exception:
                    failed += 1
                    print(f"FAIL {name}\n{traceback.format_exc(limit=3)}", flush=True)
            world.gateway.check()
        world.gateway.run("verify", world.gateway.spine)
    print(f"{len(chosen) - failed} of {len(chosen)} bad requests got what they should")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
