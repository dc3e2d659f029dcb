"""What can go wrong upstream, and what must come of it: for the client, for the retry, for the ledger. `fault_matrix_test.py` tries
every row over each API, whole and streamed, with another destination at hand and without one.

A row: what goes wrong (the faults of a simulated provider, docs/SIMULATED_PROVIDER.md), whether another destination is tried, what the
client sees if there is none, how the attempt ends in the ledger, and what is booked for it.

client   "answer"              a whole answer, as if nothing had been
         "502 some_code"       an error in the API's own shape
         "broken"              the stream's tokens so far, then an event that says it failed; no end as if it were whole
ledger   "answered", or why not (dispatch/belief.h): throttled, overloaded, failed, refused, request
booked   "nothing"             the destination bills nothing for it
         "prompt"              it may have begun: its prompt, as estimated
         "so far"              prompt, and the tokens that came
         "all"                 a whole answer's usage
"""
import dataclasses

WHOLE, STREAM = (False,), (True,)
BOTH = WHOLE + STREAM


@dataclasses.dataclass
class Row:
    name: str
    faults: list  # None: nobody listens there
    streams: tuple
    moves_on: bool
    client: str
    ledger: str
    booked: str
    script: dict = dataclasses.field(default_factory=dict)
    says: str = ""  # in seconds, when a refused client is to come again
    apis: tuple = ("chat", "messages")
    everywhere: bool = False  # the other destination has the same faults
    total: str = "3s"  # what the gateway allows a request


def row(name, faults, streams, moves_on, client, ledger, booked, **more):
    if isinstance(faults, dict):
        faults = [faults]
    return Row(name, faults, streams, moves_on, client, ledger, booked, **more)


def closes(place, **more):
    return {"do": "close", "place": place, **more}


def raw(text, place="before_head", count=1):
    return {"do": "raw", "text": text, "place": place, "count": count}


def status(code, **more):
    return {"do": "status", "status": code, **more}


def stalls(place, **more):
    return {"do": "stall", "place": place, "pause": "60s", **more}


def event(text, count=1):
    return {"do": "event", "event": 2, "text": text, "count": count}


OK = "HTTP/1.1 200 OK\r\nContent-Type: "
JSON_HEAD, SSE_HEAD = OK + "application/json\r\n", OK + "text/event-stream\r\n"
UNREACHABLE, RESET, PROTOCOL, INVALID, LATE = "502 upstream_unreachable", "502 upstream_reset", "502 upstream_protocol", "502 provider_invalid", "504 upstream_timeout"

MATRIX = [
    # ---- It is not there.
    row("nobody listens", None, BOTH, True, UNREACHABLE, "refused", "nothing"),
    # ---- It goes away.
    row("it closes before it has read the request", closes("before_body"), BOTH, True, RESET, "failed", "prompt"),
    row("it closes before its answer", closes("before_head"), BOTH, True, RESET, "failed", "prompt"),
    row("it closes inside its head", closes("inside_head"), BOTH, True, RESET, "failed", "prompt"),
    row("it closes behind its head", closes("after_head"), BOTH, True, RESET, "failed", "prompt"),
    row("it closes inside a whole answer", closes("inside_event"), WHOLE, True, RESET, "failed", "prompt"),
    row("it closes before the last byte of a whole answer", closes("before_end"), WHOLE, True, RESET, "failed", "prompt"),
    row("it closes inside the first event with a token", closes("inside_event", event=1), STREAM, False, "broken", "failed", "prompt", apis=("chat",)),
    row("the same; a message begins with a count of one", closes("inside_event", event=1), STREAM, False, "broken", "failed", "so far", apis=("messages",)),
    row("it closes behind the first token", closes("after_event", event=1), STREAM, False, "broken", "failed", "so far"),
    row("it closes inside a later event", closes("inside_event", event=8), STREAM, False, "broken", "failed", "so far"),
    row("it closes behind a later token", closes("after_event", event=8), STREAM, False, "broken", "failed", "so far"),
    row("it closes before the end of the stream", closes("before_end"), STREAM, False, "broken", "failed", "so far"),
    row("the stream ends without its last event", {"do": "no_terminator"}, STREAM, False, "broken", "failed", "so far", apis=("messages",)),
    row("the stream ends without [DONE] behind a complete answer", {"do": "no_terminator"}, STREAM, False, "answer", "answered", "all", apis=("chat",)),
    row("the stream says that it failed", {"do": "error_event", "event": 4}, STREAM, False, "broken", "failed", "so far"),
    # ---- It says nothing for too long: 1 s for the first byte of a stream, 0.6 s between bytes. A whole answer may take all of the 3 s to
    # begin, and when they are over nothing is left for another destination.
    *[row(name, stalls(place), streams, streams == STREAM or place == "after_head", LATE, "failed", "prompt")
      for name, place in (("no answer comes", "before_head"), ("half a head comes", "inside_head"), ("a head comes and no token", "after_head")) for streams in (WHOLE, STREAM)],
    row("no answer comes from anybody", stalls("before_head"), STREAM, False, LATE, "failed", "prompt", everywhere=True),
    row("a token comes and no other", stalls("after_event", event=1), STREAM, False, "broken", "failed", "so far"),
    row("half an event comes", stalls("inside_event", event=8), STREAM, False, "broken", "failed", "so far"),
    # ---- It says no.
    row("429 that says when", status(429, retry_after="2"), BOTH, True, "429 provider_rate_limited", "throttled", "nothing", says="2"),
    row("429 that says when in milliseconds", status(429, retry_after_ms="1500"), BOTH, True, "429 provider_rate_limited", "throttled", "nothing", says="2"),
    row("429 that says nothing", status(429), BOTH, True, "429 provider_rate_limited", "throttled", "nothing"),
    *[row(f"429 that says {t!r}", status(429, retry_after=t), BOTH, True, "429 provider_rate_limited", "throttled", "nothing")
      for t in ("-1", "abc", "Sun, 06 Nov 1994 08:49:37 GMT")],
    row("429 that says never", status(429, retry_after="1000000000"), BOTH, True, "429 provider_rate_limited", "throttled", "nothing", says="60"),
    *[row(f"status {s}", status(s), BOTH, True, "502 provider_failed", "failed", "nothing") for s in (408, 500, 502, 504)],
    *[row(f"status {s}", status(s), BOTH, True, "503 provider_overloaded", "overloaded", "nothing") for s in (503, 529)],
    *[row(f"status {s}", status(s), BOTH, True, "502 provider_refused", "refused", "nothing") for s in (401, 403)],
    *[row(f"status {s}", status(s), BOTH, False, f"{s} simulated", "request", "nothing") for s in (400, 413, 422)],
    row("a redirect", {"do": "redirect", "text": "http://127.0.0.1:9/"}, BOTH, True, "502 provider_refused", "refused", "nothing"),
    # ---- It sends what is no answer.
    *[row(name, {"do": do}, streams, True, INVALID if streams == WHOLE else PROTOCOL, "failed", "nothing")
      for name, do in (("a page", "html"), ("nothing at all", "empty")) for streams in (WHOLE, STREAM)],
    row("a head over 64 KiB", {"do": "fields", "count": 70, "text": "x" * 1000}, BOTH, True, PROTOCOL, "failed", "nothing"),
    row("201 fields", {"do": "fields", "count": 201, "text": "x"}, BOTH, True, PROTOCOL, "failed", "nothing"),
    row("nine interim answers", raw("HTTP/1.1 103 Early Hints\r\n\r\n", count=9), BOTH, True, PROTOCOL, "failed", "nothing"),
    row("a body that is compressed though nobody asked", [], BOTH, True, "502 upstream_encoding", "failed", "nothing", script={"fields": {"Content-Encoding": "gzip"}}),
    row("bad chunks", raw(SSE_HEAD + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), STREAM, True, PROTOCOL, "failed", "nothing"),
    row("a body shorter than its length", raw(JSON_HEAD + 'Content-Length: 100\r\n\r\n{"id":'), WHOLE, True, RESET, "failed", "prompt"),
    row("a body that is no JSON", raw(JSON_HEAD + 'Content-Length: 6\r\n\r\n{"id":'), WHOLE, True, INVALID, "failed", "nothing"),
    row("an event that is no JSON", event('data: {"choices":[{"del\n\n'), STREAM, False, "broken", "failed", "so far"),
    row("an event over 1 MiB", event("x" * 1024, count=1100), STREAM, False, "broken", "failed", "so far"),
    row("raw line ends inside an event", event('data: {"x":"a\n\ndata: {\\"role\\":\\"system\\"}"}\n\n'), STREAM, False, "broken", "failed", "so far"),
    # ---- It counts badly. The client has its answer; what is booked is never negative and never beyond what can be.
    *[row(f"usage {u}", {"do": u}, BOTH, False, "answer", "answered", "all") for u in ("no_usage", "usage_twice", "usage_negative", "usage_absurd", "usage_decreasing")],
    row("another model answers", {"do": "model", "text": "other"}, BOTH, False, "answer", "answered", "all"),
    # ---- It is only slow.
    row("every byte by itself", {"do": "trickle", "pause": "1ms"}, BOTH, False, "answer", "answered", "all", script={"tokens": 2}, total="30s"),
]
