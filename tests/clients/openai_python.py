#!/usr/bin/env python3
"""Python's openai against the simulated provider and through ACE: the same scenario, the same answer.

    openai_python.py PROVIDER_URL [ACE_URL ACE_KEY]

Exit codes: 0 all passed, 1 some failed, 2 usage.
"""
import asyncio
import json
import sys
import time
import traceback
import urllib.request

import openai
import pydantic

MODEL = "large"
MESSAGES = [{"role": "user", "content": 'What is merit order? Ünïcode 🌍 "quoted"'}]
CHAT = {"model": MODEL, "messages": MESSAGES}
WEATHER = {"type": "object", "properties": {"place": {"type": "string"}, "days": {"type": "integer"}}, "required": ["place", "days"],
           "additionalProperties": False}


class Provider:
    """The simulated provider's own side: docs/SIMULATED_PROVIDER.md."""

    def __init__(self, url):
        self.url = url

    def follow(self, script):
        body = json.dumps({"models": ["claude-large", MODEL], **script}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/simulated/script", body, method="PUT"), timeout=5).read()

    def seen(self):
        return json.load(urllib.request.urlopen(f"{self.url}/simulated/requests", timeout=5))

    def left(self):
        """Its one request, which ended within 5 s because the client left."""
        deadline = time.monotonic() + 5
        while not (seen := self.seen()) or seen[-1]["outcome"] == "going":
            assert time.monotonic() < deadline, f"nobody left: {seen}"
            time.sleep(0.02)
        assert [r["outcome"] for r in seen] == ["gone"], seen
        return seen[0]


class At:
    """Where a scenario runs."""

    def __init__(self, side, url, key, provider):
        self.through_ace, self.url, self.key, self.provider = side == "ace", url, key, provider

    def client(self, kind=openai.OpenAI, **more):
        return kind(**{"base_url": f"{self.url}/v1", "api_key": self.key, "max_retries": 0, "timeout": 15, **more})


def steady(value):
    """Without what no two requests have in common."""
    if isinstance(value, pydantic.BaseModel):
        value = value.model_dump(mode="json")
    if isinstance(value, dict):
        return {k: steady(v) for k, v in value.items() if k not in ("created", "created_at", "_request_id")}
    if isinstance(value, (list, tuple)):
        return [steady(v) for v in value]
    return value


def refused(kind, call):
    try:
        got = call()
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}, got {got!r}")


def chat(at):
    answer = at.client().chat.completions.create(**CHAT)
    assert "merit" in answer.choices[0].message.content and answer.usage.completion_tokens == 16
    return answer


def raw_answer_has_a_request_id(at):
    raw = at.client().chat.completions.with_raw_response.create(**CHAT)
    assert raw.headers["x-request-id"] and raw.http_response.http_version == "HTTP/1.1"
    return raw.parse()


def chat_stream(at):
    chunks = list(at.client().chat.completions.create(**CHAT, stream=True))
    assert all(c.choices and c.usage is None for c in chunks)
    return chunks


def chat_stream_with_usage(at):
    chunks = list(at.client().chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].usage.completion_tokens == 16
    return chunks


def tool(at):
    tools = [{"type": "function", "function": {"name": "weather", "parameters": WEATHER, "strict": True}}]
    client = at.client()
    first = client.chat.completions.create(**CHAT, tools=tools)
    call = first.choices[0].message.tool_calls[0]
    assert json.loads(call.function.arguments) == {"place": "merit order", "days": 1}
    turns = [*MESSAGES, first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
    second = client.chat.completions.create(model=MODEL, messages=turns, tools=tools)
    assert second.choices[0].message.content
    return [first, second]


class Book(pydantic.BaseModel):
    title: str
    pages: int


def shape(at):
    answer = at.client().chat.completions.parse(**CHAT, response_format=Book)
    assert answer.choices[0].message.parsed == Book(title="merit order", pages=1)
    return answer.choices[0].message.parsed


def streamed_shape(at):
    with at.client().chat.completions.stream(**CHAT, response_format=Book) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.parsed == Book(title="merit order", pages=1)
    return final.choices[0].message.content


def responses(at):
    answer = at.client().responses.create(model=MODEL, input="What is merit order?")
    assert "merit" in answer.output_text and answer.usage.output_tokens == 16
    return answer


def responses_stream(at):
    events = list(at.client().responses.create(model=MODEL, input="What?", stream=True))
    assert events[-1].type == "response.completed"
    return events


def embeddings(at):
    packed = at.client().embeddings.create(model=MODEL, input=["one", "two"])
    plain = at.client().embeddings.create(model=MODEL, input=["one", "two"], encoding_format="float")
    assert all(abs(a - b) < 1e-6 for p, q in zip(packed.data, plain.data) for a, b in zip(p.embedding, q.embedding))
    return [packed, plain]


def models(at):
    return [m.id for m in at.client().models.list()]


def leaving_a_stream(at):
    with at.client().chat.completions.create(**CHAT, stream=True) as stream:
        for number, _ in enumerate(stream):
            if number == 4:
                break
    assert at.provider.left()["tokens_sent"] < 250


def cancelling(at):
    async def run():
        client = at.client(openai.AsyncOpenAI)
        pending = asyncio.create_task(client.chat.completions.create(**CHAT))
        while not await asyncio.to_thread(at.provider.seen):
            await asyncio.sleep(0.02)
        pending.cancel()
        try:
            await pending
        except asyncio.CancelledError:
            await client.close()
            return
        raise AssertionError("it was answered")

    asyncio.run(run())
    at.provider.left()


def timeout(at):
    refused(openai.APITimeoutError, lambda: at.client(timeout=0.3).chat.completions.create(**CHAT))
    at.provider.left()


def retried_when_it_says(at):
    began = time.monotonic()
    assert at.client(max_retries=2).chat.completions.create(**CHAT).choices[0].message.content
    assert time.monotonic() - began >= 0.11 and len(at.provider.seen()) == 2


def told_when_to_come_again(at):
    error = refused(openai.RateLimitError, lambda: at.client().chat.completions.create(**CHAT))
    assert 1 <= int(error.response.headers["retry-after"]) <= 7


def wrong_key(at):
    if at.through_ace:
        refused(openai.AuthenticationError, lambda: at.client(api_key="ace_sk_no").chat.completions.create(**CHAT))
        assert at.provider.seen() == []


def no_such_model(at):
    error = refused(openai.NotFoundError, lambda: at.client().chat.completions.create(model="smaller", messages=MESSAGES))
    assert error.code == "model_not_found"


def failing_stream(at):
    refused(openai.APIError, lambda: list(at.client().chat.completions.create(**CHAT, stream=True)))
    assert len(at.provider.seen()) == 1, "never again after a token"


# name, what to do, the provider's script, whether the answers must be equal
SCENARIOS = [
    ("chat", chat, {}, True),
    ("a raw answer has a request id", raw_answer_has_a_request_id, {}, True),
    ("chat stream", chat_stream, {}, True),
    ("chat stream with usage", chat_stream_with_usage, {"cached": 0.5}, True),
    ("a tool is called, and the answer follows", tool, {}, True),
    ("an answer of a given shape", shape, {}, True),
    ("an answer of a given shape, streamed", streamed_shape, {}, True),
    ("responses", responses, {}, True),
    ("responses stream", responses_stream, {}, True),
    ("embeddings, packed and in numbers", embeddings, {}, True),
    ("models", models, {}, True),
    ("a stream that the client leaves ends upstream", leaving_a_stream, {"tokens": 500, "tpot": "20ms"}, True),
    ("a request that is cancelled ends upstream", cancelling, {"ttft": "10s"}, True),
    ("a client's timeout ends the request upstream", timeout, {"ttft": "10s"}, True),
    ("a 429 is retried when it says", retried_when_it_says, {"faults": [{"do": "status", "at": [1], "status": 429, "retry_after_ms": "120"}]}, False),
    ("a 429 of everybody says when to come again", told_when_to_come_again, {"faults": [{"do": "status", "status": 429, "retry_after": "7"}]}, False),
    ("a wrong key", wrong_key, {}, False),
    ("a model that nobody serves", no_such_model, {}, False),
    ("a stream that fails in its middle is an error", failing_stream, {"faults": [{"do": "error_event", "event": 3}]}, False),
]


def main():
    if len(sys.argv) not in (2, 4):
        print(__doc__, file=sys.stderr)
        return 2
    provider = Provider(sys.argv[1])
    sides = [At("direct", sys.argv[1], "sk-direct", provider)]
    if len(sys.argv) == 4:
        sides.append(At("ace", sys.argv[2], sys.argv[3], provider))
    failed = 0
    for name, run, script, equal in SCENARIOS:
        try:
            got = []
            for at in sides:
                provider.follow(script)
                got.append(steady(run(at)))
            assert not equal or all(g == got[0] for g in got), f"ACE's answer is not the provider's:\n{got[1]}\n{got[0]}"
            print(f"PASS openai_python: {name}")
        except Exception:  # whatever it was, the other scenarios are still of interest
            failed += 1
            print(f"FAIL openai_python: {name}\n{traceback.format_exc()}")
    print(f"openai_python: {len(SCENARIOS) - failed} of {len(SCENARIOS)} scenarios passed {'direct and ace' if len(sides) == 2 else 'direct'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
