#!/usr/bin/env python3
"""Every row of fault_matrix.py through `ace serve`: over each API, whole and streamed, alone and with another destination at hand.

    fault_matrix_test.py ACE [PART OF A ROW'S NAME]...

In each of these cells the request must end in time, the client must see what the row says, and the spine must hold exactly the
attempts, the end and the amounts that the row says. After each row no descriptor may be left, and `ace verify` must find nothing.
"""
import concurrent.futures
import pathlib
import sys
import time
import traceback

import gateway_world
import services
from fault_matrix import MATRIX
from gateway_world import Gateway, Place
from services import Provider

SECONDS_MAX = 35  # of one request; what the gateway itself allows is less
CONFIG = "timeouts: {connect: 500ms, first_token: 1s, next_token: 600ms, total: %s}\nqueue: {patience: 0s}\n"
POLICIES = "policies: {retry_budget: 100%}\n"  # else the first cells would use it up
INPUT, OUTPUT = 0, 4  # core/units.h


class Cell:
    """One request. Each has a model and destinations of its own, so that no cell meets what another did to a destination."""

    def __init__(self, number, api, stream, spare):
        self.api, self.stream, self.spare, self.model = api, stream, spare, f"m{number}"
        self.near, self.far = f"near{number}", f"far{number}"

    def __str__(self):
        return f"{self.api}, {'streamed' if self.stream else 'whole'}, {'another at hand' if self.spare else 'alone'}"

    def places(self, near_url, far_url):
        api = "openai" if self.api == "chat" else "anthropic"
        out = [Place(self.near, near_url, api, self.model, usd=1.0)]
        return out + ([Place(self.far, far_url, api, self.model, usd=3.0)] if self.spare else [])

    def request(self):
        body = {"model": self.model, "messages": [{"role": "user", "content": "What is merit order?"}], "stream": self.stream, "max_tokens": 100}
        if self.api == "chat":
            return services.request_bytes("/v1/chat/completions", body)
        return services.request_bytes("/v1/messages", body, fields=("anthropic-version: 2023-06-01",))


def check_client(row, cell, answer):
    expected = "answer" if row.moves_on and cell.spare else row.client
    assert answer is not None, "no answer came"
    seen = f"{answer.status} {answer.fields} {answer.body[-600:]!r}"
    ended = answer.body.rstrip().endswith(b"data: [DONE]") or b'"type":"message_stop"' in answer.body[-60:]
    if expected == "answer":
        assert answer.status == 200 and answer.whole, seen
        assert ended if cell.stream else set(answer.json) & {"choices", "content"}, seen
    elif expected == "broken":
        assert answer.status == 200 and answer.whole and not ended, seen
        assert '"error"' in answer.events()[-1], seen
    else:
        status, code = expected.split(" ")
        assert answer.status == int(status) and answer.whole, f"expected {expected}, came {seen}"
        error = answer.json["error"]
        assert error["code"] == code, f"expected {expected}, came {seen}"
        again = int(status) in (429, 502, 503, 504)
        assert answer.fields["x-should-retry"] == ("true" if again else "false"), seen
        assert row.says in answer.fields.get("retry-after", ""), f"expected to wait {row.says} s, came {seen}"
    return expected


def check_ledger(row, cell, expected, story):
    says = f"in the ledger: {story}"
    assert story["admitted"] == 1 and len(story["ends"]) == 1, says
    ends = [end for _, end, _ in story["attempts"]]
    tried_again = row.everywhere or row.moves_on
    assert ends == [row.ledger] + ([row.ledger if row.everywhere else "answered"] if tried_again and cell.spare else []), f"expected {row.ledger}, {says}"
    assert len({offer for offer, _, _ in story["attempts"]}) == len(ends), f"one destination twice, {says}"
    outcome, usage = story["ends"][0]
    assert outcome == ("served" if expected == "answer" else "not_served"), says
    if expected == "answer":
        assert usage.get(INPUT, 0) > 0 and 0 < usage.get(OUTPUT, 0) <= 100, says
    billed = story["attempts"][0][2]
    amounts = {"nothing": not any(billed.values()), "prompt": billed.get(INPUT, 0) > 0 and billed.get(OUTPUT, 0) == 0,
               "so far": billed.get(INPUT, 0) > 0 and 0 < billed.get(OUTPUT, 0) <= 100, "all": billed.get(INPUT, 0) > 0 and 0 < billed.get(OUTPUT, 0) <= 100}
    assert amounts[row.booked], f"expected {row.booked} to be booked, {says}"


def try_row(ace, row):
    """@return what went wrong, by cell"""
    try:
        return cells_of(ace, row)
    except Exception:
        return [traceback.format_exc(limit=3)]


def cells_of(ace, row):
    wrong = []
    cells = [Cell(n, api, stream, spare) for n, (api, stream, spare) in
             enumerate((a, s, p) for a in row.apis for s in row.streams for p in (False, True))]
    script = {**row.script, **({"faults": row.faults} if row.faults else {})}
    with gateway_world.folder() as folder, Provider(ace, folder, "far", script if row.everywhere else None) as far, Provider(ace, folder, "near", script) as near:
        near_url = near.url if row.faults is not None else f"http://127.0.0.1:{services.free_port()}"
        places = [place for cell in cells for place in cell.places(near_url, far.url)]
        with Gateway(ace, folder, places, config=CONFIG % row.total, fleet_more=POLICIES) as gateway:
            time.sleep(0.3)  # the connection that found it listening is gone
            before = gateway.descriptors()
            told = {}
            for cell in cells:
                try:
                    began = time.monotonic()
                    answer = services.exchange(gateway.port, cell.request(), SECONDS_MAX)
                    assert time.monotonic() - began < int(row.total[:-1]) + 1, "it took longer than it may"
                    told[cell] = check_client(row, cell, answer), answer.fields["x-request-id"].removeprefix("req_")
                except Exception:
                    wrong.append(f"{cell}: {traceback.format_exc(limit=3)}")
            near.stop()
            far.stop()
            try:
                services.until(lambda: gateway.descriptors() == before, 5, f"{before} descriptors were not what was left, {gateway.descriptors()},")
            except AssertionError as error:
                wrong.append(str(error))
        try:
            gateway.run("verify", gateway.spine)
            stories = gateway.stories()
        except Exception:
            return wrong + [traceback.format_exc(limit=2)]
        for cell, (expected, identifier) in told.items():
            try:
                check_ledger(row, cell, expected, stories[identifier])
            except Exception:
                wrong.append(f"{cell}: {traceback.format_exc(limit=3)}")
        if len(stories) != len(cells):
            wrong.append(f"{len(stories)} requests in the spine, {len(cells)} were sent")
    return wrong


def main():
    ace, parts = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    rows = [row for row in MATRIX if not parts or any(part in row.name for part in parts)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for row, wrong in zip(rows, pool.map(lambda row: try_row(ace, row), rows)):
            failed += bool(wrong)
            print(f"{'FAIL' if wrong else 'PASS'} {row.name}" + "".join(f"\n  {line}" for line in wrong), flush=True)
    print(f"{len(rows) - failed} of {len(rows)} rows hold")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
