"""Events of the spine written and read by hand, for tests from outside: docs/SPINE.md and src/spine/event.proto, not our code."""
import base64
import random


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def first_token(rng, now_ms):
    """A first token: id, tenant, and field 9 with an offer and a time."""
    identifier = now_ms.to_bytes(6, "big") + rng.randbytes(10)
    inner = b"\x08" + varint(rng.randrange(1, 300)) + b"\x10" + varint(rng.randrange(1, 10**9))
    return b"\x0a\x10" + identifier + b"\x10" + varint(rng.randrange(1, 50)) + b"\x4a" + varint(len(inner)) + inner


def decided(rng, now_ms):
    """A decision with 32 columns, which is as large as events usually get."""
    identifier = now_ms.to_bytes(6, "big") + rng.randbytes(10)
    inner = b"\x08\x01\x32" + varint(32 * 24) + bytes(32 * 24)
    return b"\x0a\x10" + identifier + b"\x10\x01\x3a" + varint(len(inner)) + inner


def events(seed, count, now_ms=1_790_000_000_000):
    rng = random.Random(seed)
    return [first_token(rng, now_ms + i) for i in range(count)]


REJECTIONS = ("throttled", "overloaded", "failed", "refused", "request")  # dispatch/belief.h
OUTCOMES = ("served", "cache_hit", "not_served", "client_abort")  # spine/event.h


def fields(data):
    """The fields of a protobuf message by number: a list of integers or bytes each."""
    out, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            value = number()
        else:
            size = {1: 8, 5: 4}.get(tag & 7)
            if size is None:
                size = number()
            value = data[at:at + size]
            at += size
        out.setdefault(tag >> 3, []).append(value)
    return out


def counts(packed):
    """Usage: unit, count, unit, count... as a dictionary."""
    numbers = []
    for value in packed:
        numbers += [value] if isinstance(value, int) else list(varints(value))
    return dict(zip(numbers[::2], numbers[1::2]))


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def read(line):
    """A line of `ace spine export` with what these tests look at: the fields of the event itself as `inside`."""
    message = fields(base64.b64decode(line["event_base64"]))
    kind = next((n for n in message if 6 <= n <= 27), None)
    return {**line, "inside": fields(message[kind][0]) if kind else {}}


def stories(events):
    """By request: {"attempts": [(offer, "answered" or why not, billed units)], "first_tokens", "ends": [(outcome, usage)], "decisions"}."""
    out = {}
    for event in events:
        inside = event["inside"]
        one = lambda n: inside.get(n, [0])[0]
        if event["kind"] not in ("admitted", "decided", "attempted", "first_token", "completed", "cache_hit"):
            continue
        story = out.setdefault(event["id"], {"attempts": [], "ends": [], "first_tokens": 0, "decisions": 0, "admitted": 0, "cache_hits": 0})
        if event["kind"] == "admitted":
            story["admitted"] += 1
        elif event["kind"] == "decided":
            story["decisions"] += 1
        elif event["kind"] == "first_token":
            story["first_tokens"] += 1
        elif event["kind"] == "cache_hit":
            story["cache_hits"] += 1
        elif event["kind"] == "attempted":
            story["attempts"].append((one(1), "answered" if one(3) == 1 else REJECTIONS[one(3) - 2], counts(inside.get(5, []))))
        else:
            story["ends"].append((OUTCOMES[one(1)], counts(inside.get(4, []))))
    return out
