"""What somebody who can write to the disk of a spine would do: change a record, and put everything right again that protects it.

Written from docs/SPINE.md, for logs of one open segment.
"""
import base64
import hashlib
import subprocess
import tempfile

import spine_events

HEAD, HEADER = 512, 40


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def records(segment):
    """(offset, type, payload) of each record."""
    at = HEAD
    while segment[at:at + 4] == b"ACE1":
        length = int.from_bytes(segment[at + 8:at + 12], "little")
        yield at, segment[at + 12], segment[at + HEADER:at + HEADER + length]
        at += (HEADER + length + 7) // 8 * 8


class Tree:
    def __init__(self):
        self.nodes = []  # (leaves, hash)

    def add(self, leaf):
        size = 1
        while self.nodes and self.nodes[-1][0] == size:
            leaf = sha(b"\1", self.nodes.pop()[1], leaf)
            size *= 2
        self.nodes.append((size, leaf))

    def root(self):
        root = None
        for _, node in reversed(self.nodes):
            root = node if root is None else sha(b"\1", node, root)
        return root if root is not None else sha()


def signature(key_file, text):
    with tempfile.NamedTemporaryFile() as message:
        message.write(text)
        message.flush()
        return subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key_file, "-in", message.name],
                              capture_output=True, check=True).stdout


def rewrite(directory, offset, payload, key_file=None):
    """Puts `payload`, of the same length, into the record at `offset` of segment 1, and makes checksums, chain, tree and
    checkpoints right again; signs the checkpoints anew if it has the key."""
    path = directory / "00000001.seg"
    segment = bytearray(path.read_bytes())
    chain, tree = sha(b"ace spine", segment[16:32]), Tree()
    for at, kind, old in list(records(segment)):
        new = old
        if at == offset:
            assert len(payload) == len(old), "a record of another length moves all others"
            new = payload
        elif at > offset and kind == 2:
            lines = old.decode().split("\n")
            lines[2] = base64.b64encode(tree.root()).decode()
            lines[3] = "chain " + base64.b64encode(chain).decode()
            text = "\n".join(lines[:5]) + "\n"
            mark, name, signed = lines[6].split(" ")
            if key_file:
                signed = base64.b64encode(base64.b64decode(signed)[:4] + signature(key_file, text.encode())).decode()
            new = (text + "\n" + " ".join((mark, name, signed)) + "\n").encode()
        segment[at + HEADER:at + HEADER + len(old)] = new
        segment[at + 32:at + HEADER] = chain[:8]
        segment[at + 4:at + 8] = crc32c(segment[at + 8:at + HEADER + len(old)]).to_bytes(4, "little")
        leaf = sha(b"\0", segment[at:at + HEADER + len(old)])
        chain = sha(b"\2", chain, leaf)
        tree.add(leaf)
    path.write_bytes(segment)


def fields(message):
    """(number, start, end, value) of each field of a protobuf message: bounds of the value's bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            start = at
            value = varint()
            yield tag >> 3, start, at, value
            continue
        size = varint() if tag & 7 == 2 else {1: 8, 5: 4}[tag & 7]
        yield tag >> 3, at, at + size, None
        at += size


def another_amount(payload):
    """The payload of a FixedCost with an amount that is a cent or a tenth of one off, or None for any other record
    and for one whose amount is too small to be so much off in as many bytes."""
    fixed_cost, amount = 16, 5
    for number, at, end, _ in fields(payload):
        for inner, begin, stop, value in fields(payload[at:end]) if number == fixed_cost else ():
            if inner != amount:
                continue
            # As a signed integer is written: twice the value.
            changed = [spine_events.varint(value + by) for by in (2 * 10**7, -2 * 10**7, 2 * 10**6) if value + by >= 0]
            for other in changed:
                if len(other) == stop - begin:
                    return payload[:at + begin] + other + payload[at + stop:]
    return None


def another_choice(payload):
    """The payload of a Decided with another of its candidates as the choice, or None where there is no other."""
    for number, start, end, _ in fields(payload):
        if number != 7:
            continue
        decided = payload[start:end]
        chosen = live = None
        for inner, begin, stop, value in fields(decided):
            if inner == 1:
                chosen = (begin, value)
            if inner == 6:
                live = decided[begin:stop]
        if not chosen or not live:
            return None
        for column in range(0, len(live), 24):
            offer = int.from_bytes(live[column:column + 3], "little") + 1  # an index is written plus one
            if offer != chosen[1] and offer < 0x80:
                changed = bytearray(payload)
                changed[start + chosen[0]] = offer
                return bytes(changed)
    return None
