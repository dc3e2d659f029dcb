#!/usr/bin/env python3
"""Bad fleets, price maps and traces through the whole program: an exit code, a message that says what and where, no output.

Ids are those of our list of bad inputs; Y fleet files, P price maps, C traces. No input may crash the program, keep it busy for
more than 20 seconds or make it take more than 512 MiB. Unit tests beside the readers hold many more of each kind.

    bad_inputs_test.py ACE [ID]...
"""
import dataclasses
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import world

SECONDS_MAX = 20
MEMORY_MAX_KB = int(os.environ.get("ACE_TEST_MEMORY_MAX_MB", "512")) * 1024

CLUSTERS = """\
clusters:
  dc1:
    racks: [{id: r1, nodes: "n[1-4]"}, {id: r2, nodes: "n[5-8]"}]
    selector: {pool: h100}
    healthy_floor: 80%
"""
FLEET = world.FLEET + CLUSTERS
RACKS = 'racks: [{id: r1, nodes: "n[1-4]"}, {id: r2, nodes: "n[5-8]"}]'
URL = "beta: {jurisdictions: [eu]}"

HEADER = "at,prompt,output\n"
GOOD = "2026-01-05T00:00:00Z,10,5\n"


def at(second, rest=",10,5"):
    return f"2026-01-05T00:00:{second:02}Z{rest}\n"


@dataclasses.dataclass
class Bad:
    """One input: how it is written, which command reads it, what must come of it."""

    id: str
    why: str
    content: object  # bytes or text; a callable gets the path and makes it
    command: tuple  # {} stands for the input's path
    code: int = 2
    says: tuple = ()
    out: tuple = ()  # what standard output says: a good input's result, or the findings of a check
    env: dict = dataclasses.field(default_factory=dict)
    seconds: float = SECONDS_MAX


def fleet(id, why, content, *says, code=1, **more):
    return Bad(id, why, content, ("fleet", "check", "{}"), code, says, **more)


def changed(id, why, before, after, *says, **more):
    assert FLEET.count(before) == 1, (id, before)
    return fleet(id, why, FLEET.replace(before, after), *says, **more)


def prices(id, why, content, *out, code=1, arguments=(), **more):
    return Bad(id, why, content, ("prices", "check", "{}", *arguments), code, out=out, **more)


def row(price, key="input_cost_per_token", more=""):
    return f'{{"acme/big": {{"mode": "chat", "output_cost_per_token": 1e-6, "{key}": {price}{more}}}}}'


def versions(*rows):
    """Versions of one price: first day, end, USD per Mtok, and for a correction the day it was recorded and its reason."""
    keys = ("valid_from", "valid_to", "input_cost_per_token", "recorded", "reason")
    made = [{key: f"{value}e-6" if key == "input_cost_per_token" else value for key, value in zip(keys, row) if value} for row in rows]
    return json.dumps({"acme/big": [{"mode": "chat", **row} for row in made]})


def trace(id, why, content, *says, arguments=(), code=2, **more):
    command = ("analyze", "{}", "--fleet", "fleet.yaml", "--sensitivity", "off", "--model", "large", *arguments)
    return Bad(id, why, content, command, code, says, **more)


def accepted(id, why, content, *says, requests, arguments=()):
    return trace(id, why, content, *says, arguments=arguments, code=0, out=(f" {requests:,} rows,",))


def bomb():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 10):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    return "\n".join(lines) + "\n"


def damaged(text, change):
    data = bytearray(gzip.compress(text.encode(), mtime=0))
    change(data)
    return bytes(data)


def big(path):
    """1 GiB without a line break, as a sparse file would not be: zeros compress, and the reader must stop at 1 MiB."""
    with open(path, "wb") as file:
        file.write(HEADER.encode())
        file.truncate(1 << 30)


def fifo(text):
    """A pipe with a name, into which somebody writes as it is read."""
    def make(path):
        os.mkfifo(path)
        threading.Thread(target=lambda: pathlib.Path(path).write_text(text), daemon=True).start()
    return make


def million_nodes():
    return FLEET.replace(RACKS, 'racks: [{id: r1, nodes: "n[1-1000000]"}]')


long_trace = HEADER + "".join(at(i % 60, f",{i % 7 + 1},5") for i in range(60))

CASES = [
    # ---- 4 Fleet YAML
    fleet("Y01", "nine levels of ten aliases", bomb(), "aliases", seconds=2),
    changed("Y02", "a key twice: both lines", "    selector: {pool: h100}\n", "    selector: {pool: h100}\n    " + RACKS + "\n",
            "racks", "lines 42 and 44", ":44:5"),
    changed("Y03", "a word where a number stands", "units: 1\n", "units: 1e3\n", "units"),
    changed("Y03", "words, numbers and times are strings where a string stands", "- {id: beta, ", "- {id: 1e3, ", code=0, out=("no mistakes",)),
    changed("Y03", "octal", "rpm: 30", "rpm: 017", "rpm"),
    changed("Y03", "no is a word, and no country", "jurisdictions: [us], cache", "jurisdictions: no, cache", "jurisdictions"),
    changed("Y05", "a floor of zero", "healthy_floor: 80%", "healthy_floor: 0%", "allow_zero_floor"),
    changed("Y05", "a floor of zero that is meant", "healthy_floor: 80%", "healthy_floor: 0%\n    allow_zero_floor: true", code=0, out=("no mistakes",)),
    changed("Y05", "a negative floor", "healthy_floor: 80%", "healthy_floor: -1", "healthy_floor"),
    changed("Y05", "above the whole", "healthy_floor: 80%", "healthy_floor: 110%", "100%"),
    changed("Y05", "a floor without a unit", "healthy_floor: 80%", "healthy_floor: 0.8", '"80%"'),
    fleet("Y06", "empty", "", ":1:1", "empty"),
    fleet("Y06", "null", "null\n", "empty"),
    fleet("Y06", "comments only", "# nothing\n", "empty"),
    changed("Y06", "no racks are not all racks", RACKS, "racks: []", "empty list of racks"),
    changed("Y06", "racks without a value", RACKS, "racks:", "no value"),
    changed("Y07", "a selector of everything", "selector: {pool: h100}", "selector: {}", "selector_matches_everything"),
    changed("Y07", "a match of everything", "selector: {pool: h100}", 'match: "*"', "selector_matches_everything"),
    changed("Y08", "a node in two racks", '"n[5-8]"', '"n[4-8]"', "n4"),
    changed("Y08", "a rack twice", "{id: r2", "{id: r1", "r1"),
    changed("Y08", "ids that differ by case", "- {id: beta, ", "- {id: ALPHA, ", "case"),
    fleet("Y10", "a tag that makes objects", "version: !!python/object/apply:os.system [ls]\n", "tag"),
    fleet("Y10", "binary", "version: !!binary aGk=\n", "tag"),
    fleet("Y10", "an include", "version: !include /etc/shadow\n", "tag"),
    fleet("Y11", "5 MiB of blanks", " " * (5 << 20), "1048576", seconds=2),
    fleet("Y11", "a million nodes", million_nodes(), "nodes", seconds=2),
    fleet("Y11", "nesting 300 deep", "x: " + "[" * 300, "64 levels", seconds=2),
    fleet("Y11", "nesting 100,000 deep by indentation", "".join(" " * i + "a:\n" for i in range(1200)), "64 levels", seconds=2),
    fleet("Y11", "a hundred thousand keys", FLEET + "".join(f"k{i}: 1\n" for i in range(100_000)), "100000 values", seconds=2),
    fleet("Y11", "a hundred thousand times one key", FLEET + "k: 1\n" * 100_000, "100000 values", seconds=2),
    fleet("Y11", "forty thousand times one key: a hundred are told", FLEET + "k: 1\n" * 40_000, "appears twice", seconds=4),
    fleet("Y11", "a hundred thousand nodes, one by one", FLEET.replace(RACKS, "racks: [{id: r1, nodes: [" + ",\n".join(f"n{i}" for i in range(101_000)) + "]}]"), "100000 values", seconds=2),
    changed("Y12", "a literal key", URL, 'beta: {jurisdictions: [eu], api: openai, url: "https://b.example", key: sk-live-abcdef}', "env"),
    changed("Y12", "an unset variable", "version: 1", "version: ${ACE_TEST_NOT_SET}", "ACE_TEST_NOT_SET"),
    changed("Y12", "an empty variable", "version: 1", "version: ${ACE_TEST_EMPTY}", "ACE_TEST_EMPTY", env={"ACE_TEST_EMPTY": ""}),
    fleet("Y15", "BOM and CRLF change nothing", ("\ufeff" + FLEET.replace("\n", "\r\n")), code=0, out=("no mistakes",)),
    *[changed("Y16", why, URL, f'beta: {{jurisdictions: [eu], api: openai, url: "{url}"}}', says) for why, url, says in (
        ("user and password", "https://u:p@host.example", "password"),
        ("no TLS", "http://host.example", "https"),
        ("the metadata service", "https://169.254.169.254", "link-local"),
        ("a trailing dot", "https://host.example.", "trailing dot"),
        ("a private address", "https://10.0.0.7", "allow_private"))],
    changed("Y17", "a day of 24.5 hours", "units: 1\n", 'schedule: [{window: "00:00-24:30", units: 1}]\n', "window"),
    changed("Y17", "a zone that is no zone", "units: 1\n", 'schedule: [{window: "00:00-24:00", units: 1, timezone: CEST}]\n', "timezone"),
    changed("Y17", "overlapping windows", "units: 1\n",
            'schedule: [{window: "00:00-12:00", units: 1}, {window: "11:00-13:00", units: 1}]\n', "overlap"),
    fleet("Y", "not UTF-8", b"version: \xff\xfe\n", "UTF-8"),
    fleet("Y", "a NUL", b"version: 1\x00\n", ":1:"),
    fleet("Y", "a folder", lambda path: path.mkdir(), "directory"),

    # ---- 5 Price maps
    *[prices("P01", f"a price of {text}", row(text), "acme/big", "input_cost_per_token") for text in
      ("-1e-6", '"free"', '""', '"1,5"', '"NaN"', '"inf"', "[]", "true")],
    prices("P01", "null is no price, and never zero", row("null"), "0 errors", code=0),
    prices("P01", "NaN is no JSON", row("NaN"), "NaN"),
    prices("P03", "a thousandfold jump", row("3e-3"), "acme/big", arguments=("--previous", "previous.json")),
    prices("P03", "a thousandfold jump that is meant", row("3e-3", more=', "accept_delta": "per image now"'), "0 errors", code=0, arguments=("--own", "--previous", "previous.json")),
    *[prices("P05", why, versions(*rows), says, code=code, arguments=("--own", *more)) for why, rows, says, code, more in (
        ("overlapping intervals", [("2026-01-01", "2026-03-01", 1), ("2026-02-01", "", 2)], "two versions hold on 2026-02-01", 1, ()),
        ("a gap is unpriced, never zero", [("2026-01-01", "2026-02-01", 1), ("2026-03-01", "", 2)], "unpriced from 2026-02-01 to 2026-03-01", 0, ()),
        ("a day in the gap", [("2026-01-01", "2026-02-01", 1), ("2026-03-01", "", 2)], "0 priced", 0, ("--on", "2026-02-11")),
        ("an end before the start", [("2026-02-01", "2026-01-01", 1)], "valid_to", 1, ()),
        ("no day", [("2026-02-30", "", 1)], "YYYY-MM-DD", 1, ()),
        ("a time without a zone is no day", [("2026-02-01 00:00:00", "", 1)], "YYYY-MM-DD", 1, ()),
        ("a start that is still to come", [("2026-12-01", "", 1)], "no version of this price holds on 2026-11-30", 1, ("--on", "2026-11-30")))],
    *[prices("P09", why, versions(*rows), says, code=code, arguments=("--own", *more)) for why, rows, says, code, more in (
        ("a correction without a reason", [("2026-01-01", "", 1), ("2026-01-11", "2026-01-21", 2, "2026-03-01")], "says why in reason", 1, ()),
        ("a correction with one", [("2026-01-01", "", 1), ("2026-01-11", "2026-01-21", 2, "2026-03-01", "invoice")], "0 errors", 0, ()),
        ("a past price edited in place", [("2026-01-01", "", 2)], "edited in place", 1, ("--previous", "versions.json")),
        ("a past price taken out", [("2026-01-02", "", 1)], "is gone", 1, ("--previous", "versions.json")))],
    Bad("P09", "what was booked in corrected days differs by", versions(("2026-01-01", "", 1), ("2026-01-11", "2026-01-21", 2, "2026-03-01", "invoice 17")),
        ("prices", "corrections", "{}"), 0, out=("2026-01-11 to 2026-01-21", "invoice 17", "1.00 -> 2.00")),
    *[Bad("P09", f"a day in the past, as known {why}", versions(("2026-01-01", "", 1), ("2026-01-11", "2026-01-21", 2, "2026-03-01", "invoice")),
          ("prices", "show", "acme/big", "--prices", "{}", "--own", "--on", "2026-01-15", *known), 0, out=(price,))
      for why, known, price in (("then", ("--known-on", "2026-01-15"), "1.00"), ("now", (), "2.00"))],
    prices("P", "a price by hour of the day is refused, not averaged", row("2e-6", more=', "off_peak_pricing": {"hours_utc": "16:30-00:30", "input_cost_per_token": 1e-6}'), "differs at some hours", "0 priced"),
    prices("P04", "more than nine decimals of USD per Mtok", row("1.0000000000000001e-6"), "acme/big", "decimals"),
    prices("P04", "beyond any number", row("1e400"), "acme/big"),
    prices("P04", "smaller than any price", row("1e-400"), "acme/big"),
    prices("P04", "nine decimals are exact", row("0.000000123456789"), "1 priced", "0 errors", code=0),
    prices("P11", "names that differ by case", row("1e-6")[:-1] + ', "Acme/Big": {"mode": "chat", "input_cost_per_token": 1e-6}}', "case", arguments=("--own",)),
    prices("P11", "a row twice", row("1e-6")[:-1] + ', "acme/big": {"mode": "chat", "input_cost_per_token": 2e-6}}', "acme/big"),
    prices("P", "empty", "", code=2),
    prices("P", "a list", "[]", code=2),
    prices("P", "100,000 brackets", "[" * 100_000, code=2, seconds=2),
    prices("P", "not UTF-8", b'{"a\xff": {}}', code=2),
    Bad("P06", "a destination without a price gets nothing and is said to", FLEET.replace("price_key: beta/large, ", "price_key: gamma/large, "),
        ("fleet", "check", "{}"), 0, ("gamma/large", "gets no requests"), ("beta has no price",)),
    Bad("P10", "the baseline's price key is missing", FLEET.replace("price_key: alpha/large, as_of", "price_key: alpha/lage, as_of"),
        ("fleet", "check", "{}"), 0, ("alpha/lage", "outside the savings")),

    # ---- 6 Traces
    accepted("C01", "a BOM before the header", "\ufeff" + HEADER + GOOD, requests=1),
    accepted("C02", "CRLF", (HEADER + GOOD).replace("\n", "\r\n"), requests=1),
    trace("C02", "a lone CR", HEADER + GOOD + "2026-01-05T00:00:01Z,1\r,2\n", "line 3", "carriage return"),
    accepted("C03", "quoted fields with commas, breaks and quotes", 'at,prompt,output,model\n2026-01-05T00:00:00Z,"10",5,"a,""b""\r\nc"\n', requests=1),
    trace("C03", "lines are physical lines", 'at,prompt,output,model\n2026-01-05T00:00:00Z,10,5,"a\nb\nc"\n' + "x,1,1,m\n", "line 5"),
    trace("C04", "a quote that never closes", HEADER + GOOD + '"2026,1,2\n3,4\n', "line 3", "quote"),
    trace("C04", "a quote inside a bare field", HEADER + '20"26,1,2\n', "line 2", "quote"),
    trace("C06", "a column is missing", "at,prompt\n2026-01-05T00:00:00Z,1\n", "output", arguments=("--format", "csv")),
    trace("C06", "a column is missing and nobody named the format", "at,prompt,model\n2026-01-05T00:00:00Z,1,m\n", "line 1", "no column output"),
    trace("C06", "a column of a known format is missing", "TIMESTAMP,ContextTokens\n2023-11-16 18:17:03.9799600,4808\n", "line 1", "generatedtokens", "Azure"),
    trace("C02", "all line ends are lone CRs", (HEADER + GOOD).replace("\n", "\r"), "line 1", "carriage return"),
    accepted("C06", "other order, other columns, blanks and case", '" Output ",noise, AT ,PROMPT\n5,x,2026-01-05T00:00:00Z,10\n', requests=1, arguments=("--format", "csv")),
    trace("C07", "a column twice", "at,at,prompt,output\n1,1,1,1\n", "at appears twice"),
    trace("C07", "no header", "1,2,3\n4,5,6\n", "row of data", arguments=("--format", "csv")),
    accepted("C07", "a header alone", HEADER, "0 rows", requests=0),
    trace("C07", "empty", "", "empty"),
    trace("C08", "a short row", HEADER + GOOD + "2026-01-05T00:00:01Z,1\n", "line 3", "expected 3 fields, got 2"),
    trace("C08", "a long row", HEADER + "2026-01-05T00:00:01Z,1,2,3\n", "line 2", "expected 3 fields, got 4"),
    accepted("C08", "blank lines", HEADER + "\n" + GOOD + "\n\n", requests=1),
    trace("C02", "CRLF and LF mixed, and a lone CR at last", HEADER + at(0).replace("\n", "\r\n") + at(1) + "2026\r", "line 4", "carriage return"),
    trace("C08", "a comma at the end", HEADER + at(0, ",10,5,"), "line 2", "expected 3 fields, got 4"),
    trace("C09", "a decimal comma", "at;prompt;output;cost_usd\n2026-01-05T00:00:00Z;1;2;0,5\n", "line 2", "cost_usd", arguments=("--delimiter", ";")),
    trace("C09", "tabs", (HEADER + GOOD).replace(",", "\t"), '--delimiter "\\t"'),
    trace("C09", "semicolons", "at;prompt;output\n1;2;3\n", '--delimiter ";"'),
    accepted("C09", "semicolons, said so", (HEADER + GOOD).replace(",", ";"), requests=1, arguments=("--delimiter", ";")),
    trace("C11", "2^63 tokens", HEADER + "2026-01-05T00:00:00Z,9223372036854775808,1\n", "line 2", "prompt", "out_of_range"),
    trace("C11", "10^30 tokens", HEADER + f"2026-01-05T00:00:00Z,1{'0' * 30},1\n", "line 2", "out_of_range"),
    trace("C11", "10^9 + 1 tokens", HEADER + "2026-01-05T00:00:00Z,1000000001,1\n", "line 2", "out_of_range"),
    trace("C11", "a negative count", HEADER + "2026-01-05T00:00:00Z,-1,1\n", "line 2", "prompt"),
    trace("C11", "more cached and cache-write tokens than prompt tokens", "at,prompt,output,cached,cache_write\n2026-01-05T00:00:00Z,10,5,6,5\n", "line 2", "cache-write"),
    accepted("C11", "cached and cache-write tokens that are the prompt", "at,prompt,output,cached,cache_write\n2026-01-05T00:00:00Z,10,5,6,4\n", requests=1),
    trace("C12", "back in time", HEADER + at(5) + at(1), "row 2", "--sort"),
    Bad("C12", "back in time, sorted: how many and how far", HEADER + at(5) + at(1) + at(9) + at(2), ("trace", "stats", "{}", "--sort"), 0,
        out=("2 rows went back in time, at most by 7.000000 s",)),
    accepted("C12", "back in time, sorted", HEADER + at(5) + at(1), requests=2, arguments=("--sort",)),
    *[accepted("C13", f"times in {unit}", HEADER + f"1767571200{zeros},1,1\n1767571201{zeros},1,1\n", requests=2)
      for unit, zeros in (("seconds", ""), ("milliseconds", "000"), ("microseconds", "000000"), ("nanoseconds", "000000000"))],
    trace("C13", "seconds, then milliseconds", HEADER + "1767571200,1,1\n1767571201000,1,1\n", "line 3", "expected seconds"),
    trace("C13", "times of two kinds", HEADER + GOOD + "1767571201,1,1\n", "line 3", "at"),
    trace("C13", "a time without a zone", HEADER + "2026-01-05 00:00:00,1,1\n", "--tz"),
    accepted("C13", "a time without a zone, and the zone", HEADER + "2026-01-05 00:00:00,1,1\n", requests=1, arguments=("--tz", "Europe/Berlin")),
    *[trace("C14", f"a time of {text or 'nothing'}", HEADER + f"{text},1,1\n", "line 2", "at") for text in
      ("2025-02-30T00:00:00Z", "2025-02-03T24:00:01Z", "9999-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "")],
    trace("C14", "a 61st second of any other minute", HEADER + "2016-06-15T12:30:60Z,1,1\n", "line 2", "no such time"),
    accepted("C14", "a leap second", HEADER + "2016-12-31T23:59:60Z,1,1\n", requests=1),
    accepted("C16", "rows without an id are never duplicates", HEADER + GOOD + GOOD, requests=2),
    accepted("C16", "a duplicate with an id", "id,at,prompt,output\n" + ("a," + GOOD) * 2, requests=1),
    trace("C16", "an id with other content", "id,at,prompt,output\na," + GOOD + "a," + GOOD.replace(",10,", ",11,"), "line 3", "2"),
    trace("C17", "an end before the start", "at,end,prompt,output\n2026-01-05T00:00:01Z,2026-01-05T00:00:00Z,1,1\n", "line 2", "end"),
    accepted("C17", "no time at all", "at,end,prompt,output\n2026-01-05T00:00:01Z,2026-01-05T00:00:01Z,1,1\n", requests=1),
    Bad("C17", "400 days", "at,end,prompt,output\n2026-01-05T00:00:00Z,2027-02-09T00:00:00Z,1,1\n", ("trace", "stats", "{}"), 0, out=("1 requests took 400 days",)),
    trace("C18", "cut in the middle", damaged(long_trace, lambda d: d.__delitem__(slice(len(d) - 30, None))), "truncated"),
    trace("C18", "a wrong checksum", damaged(long_trace, lambda d: d.__setitem__(-8, d[-8] ^ 1)), "corrupt"),
    trace("C18", "a wrong length", damaged(long_trace, lambda d: d.__setitem__(-4, d[-4] ^ 1)), "corrupt"),
    accepted("C19", "two members", gzip.compress((HEADER + at(0)).encode()) + gzip.compress(at(1).encode()), requests=2),
    accepted("C19", "zeros after the end", gzip.compress((HEADER + GOOD).encode()) + b"\0" * 512, requests=1),
    trace("C19", "rubbish after the end", gzip.compress((HEADER + GOOD).encode()) + b"rubbish", "after"),
    trace("C19", "zeros, then rubbish", gzip.compress((HEADER + GOOD).encode()) + b"\0" * 10 + b"rubbish", "corrupt"),
    trace("C21", "a line of 1 GiB", big, "line 2", "1048576 bytes"),
    trace("C21", "300 columns", HEADER.strip() + ",x" * 300 + "\n", "256"),
    trace("C21", "ten million columns", HEADER.strip() + "," * 10_000_000 + "\n"),
    trace("C23", "a folder", lambda path: path.mkdir(), "directory"),
    accepted("C23", "a pipe with a name", fifo(HEADER + GOOD), requests=1),
    Bad("C23", "standard input", HEADER + GOOD, ("analyze", "-", "--fleet", "fleet.yaml", "--sensitivity", "off", "--model", "large"), 0, out=(" 1 rows,",)),
    Bad("C23", "nothing on standard input", "", ("analyze", "-", "--fleet", "fleet.yaml", "--sensitivity", "off"), 2, ("empty",)),
    trace("C", "binary rubbish", bytes(range(256)) * 64),
    trace("C", "a binary trace cut short", b"ACEtrc1" + b"\x01" * 40),
    trace("C", "a NUL in a number", HEADER.encode() + b"2026-01-05T00:00:00Z,1\x000,5\n", "line 2"),
    trace("C", "JSON lines with a broken one", '{"at":"2026-01-05T00:00:00Z","prompt":1,"output":1}\n{"at":\n', "line 2"),
    trace("C", "100,000 brackets", "[" * 100_000, seconds=5),
    trace("C", "not UTF-8 in a name", b"at,prompt,output,model\n2026-01-05T00:00:00Z,1,1,\xff\xfe\n", code=0, out=(" 1 rows,",)),
]


def measured(here, case, path):
    """@return exit code, output, messages, seconds, kB"""
    command = [here.ace, *[str(path) if word == "{}" else word for word in case.command]]
    piped = "-" in case.command
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(path if piped else os.devnull, "rb") as given:
        began = time.monotonic()
        child = subprocess.Popen(command, cwd=here.folder, stdin=given, stdout=out, stderr=err, env={**os.environ, **case.env})
        alarm = threading.Timer(SECONDS_MAX, child.kill)
        alarm.start()
        _, status, usage = os.wait4(child.pid, 0)
        alarm.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - began
        for file in (out, err):
            file.seek(0)
        texts = [file.read().decode("utf-8", "replace") for file in (out, err)]
    return child.returncode, *texts, seconds, usage.ru_maxrss


def faults(case, code, out, err, seconds, kilobytes):
    if code < 0:
        yield f"killed by signal {-code}"
    elif code != case.code:
        yield f"exit code {code}, expected {case.code}"
    if case.code != 0 and not case.out and out:
        yield "it printed a result"
    if case.code != 0 and not (err + out).strip():
        yield "it said nothing"
    for words in case.says:
        if words not in err:
            yield f"the message does not say {words!r}"
    for words in case.out:
        if words not in out:
            yield f"the output does not say {words!r}"
    if len(err) > 25_000:  # a hundred mistakes with their lines
        yield f"a message of {len(err)} characters"
    if seconds > case.seconds:
        yield f"{seconds:.1f} s, at most {case.seconds} s"
    if kilobytes > MEMORY_MAX_KB:
        yield f"{kilobytes // 1024} MiB"


def main():
    here = world.World(sys.argv[1])
    here.write("fleet.yaml", world.FLEET)
    here.write("previous.json", row("3e-6"))
    here.write("versions.json", versions(("2026-01-01", "", 1)))
    wanted = set(sys.argv[2:])
    failed = ran = 0
    for number, case in enumerate(CASES):
        if wanted and case.id not in wanted:
            continue
        path = here.folder / f"input{number}"
        if callable(case.content):
            case.content(path)
        else:
            here.write(path.name, case.content)
        got = measured(here, case, path)
        wrong = list(faults(case, *got))
        ran += 1
        failed += bool(wrong)
        if wrong or wanted:
            print(f"{'FAIL' if wrong else 'ok'}  {case.id} {case.why}: {'; '.join(wrong)}\n      {(got[2] or got[1]).strip()[:400]}")
        if pathlib.Path(path).is_file() or pathlib.Path(path).is_fifo():
            path.unlink()
    here.close()
    print(f"{ran - failed} of {ran} bad inputs end as they should")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
