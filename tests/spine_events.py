"""Events of the spine written by hand, for tests from outside."""
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
