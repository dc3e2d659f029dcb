#!/usr/bin/env python3
"""`ace serve` over three simulated destinations, of which one dies, one throttles and one slows down, under steady traffic.

    gateway_end_to_end_test.py ACE [unittest arguments]

Requests come at fixed times, whatever becomes of those before. What clients saw, what the providers saw and what the spine says must be
one story; `ace verify` must find every decision and every dollar equal, and the ledger must be what the clients were told.
"""
import concurrent.futures
import dataclasses
import json
import pathlib
import sys
import time
import unittest

import gateway_world
import services
from gateway_world import MODEL, Gateway, Place
from services import Provider, request_bytes

ACE = None
RATE = 25  # requests a second
HEALTHY = {"ttft": "40ms", "tpot": "4ms", "tokens": 20}


@dataclasses.dataclass
class Seen:
    at: float
    status: int
    destination: str
    seconds: float
    cost_nano: int
    events: list


def nano(usd):
    whole, _, part = usd.partition(".")
    return int(whole) * 10**9 + int((part + "0" * 9)[:9])


class EndToEnd(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(gateway_world.folder())
        self.providers = {}
        for name, script in (("near", HEALTHY), ("mid", {**HEALTHY, "rpm": 60}), ("far", HEALTHY)):
            self.start(name, script)
        self.places = [Place(name, self.providers[name].url, usd=usd) for name, usd in (("near", 1.0), ("mid", 2.0), ("far", 3.0))]
        self.gateway = self.enterContext(Gateway(ACE, self.folder, self.places, slo='ttft: 1s, tpot: 50ms, value: "0.001 USD/request"', config="timeouts: {connect: 500ms, first_token: 5s, next_token: 2s, total: 20s}\n"))
        self.pool = self.enterContext(concurrent.futures.ThreadPoolExecutor(150))
        self.pending, self.began = [], time.monotonic()

    def start(self, name, script, port=0):
        self.providers[name] = self.enterContext(Provider(ACE, self.folder, name, script, port))

    def one(self, at, stream):
        body = {"model": MODEL, "messages": [{"role": "user", "content": "What is merit order?"}], "stream": stream}
        before = time.monotonic()
        answer = services.exchange(self.gateway.port, request_bytes("/v1/chat/completions", body), 30)
        if answer is None:
            return Seen(at, 0, "", 0, 0, [])
        told = answer.fields.get("x-ace-cost-usd")
        return Seen(at, answer.status if answer.whole else 0, answer.fields.get("x-ace-destination", ""), time.monotonic() - before,
                    nano(told) if told else 0, answer.events() if stream else [])

    def traffic(self, seconds):
        """Asks at the rate for so long. @return what was seen, once all have ended"""
        start, asked = time.monotonic(), []
        for number in range(int(seconds * RATE)):
            due = start + number / RATE
            time.sleep(max(0, due - time.monotonic()))
            asked.append(self.pool.submit(self.one, due - self.began, number % 3 == 0))
        self.pending += asked
        return [f.result() for f in asked]

    def share(self, seen, name):
        return sum(s.destination == name for s in seen) / len(seen)

    def good(self, seen, least=0.99):
        served = sum(s.status == 200 for s in seen) / len(seen)
        self.assertGreaterEqual(served, least, {s.status: sum(o.status == s.status for o in seen) for s in seen})

    def test_goodput_holds_spill_follows_merit_order_and_everything_recovers(self):
        calm = self.traffic(12)
        self.good(calm, 1.0)
        self.assertEqual(self.share(calm, "near"), 1.0, "the cheapest serves all while it can")

        port = self.providers["near"].port
        self.providers["near"].process.kill()
        dead = self.traffic(6)
        self.good(dead)
        late = dead[len(dead) // 6:]
        self.assertLess(self.share(late, "near"), 0.01)
        first = [s.destination for s in late[:30]]
        self.assertGreater(first.count("mid"), 20, "what spills goes to the next in merit order")
        self.assertGreater(self.share(dead[-40:], "far"), 0.7, "and past its limit to the one after it")
        self.assertGreater(self.share(dead, "mid"), 60 / len(dead) * 0.8, "what the limit allows is used")

        self.start("near", HEALTHY, port)
        back = self.traffic(12)
        self.good(back)
        self.assertGreater(self.share(back[-3 * RATE:], "near"), 0.9, "it is used again without anybody's doing")

        self.providers["near"].follow({**HEALTHY, "tpot": "120ms"})
        slow = self.traffic(10)
        self.good(slow)
        self.assertLess(self.share(slow[-2 * RATE:], "near"), self.share(slow[:2 * RATE], "near"), "what is slow is used less")
        in_time = [s for s in slow[-3 * RATE:] if s.seconds < 1.5]
        self.assertGreater(len(in_time) / (3 * RATE), 0.8, "and its delay is not everybody's")

        self.check_books([f.result() for f in self.pending])

    def check_books(self, seen):
        self.gateway.stop()
        verified = self.gateway.run("verify", self.gateway.spine)
        self.assertIn("decisions", verified)
        stories = self.gateway.stories()
        self.assertEqual(len(stories), len(seen), "a request of a client is one in the ledger")
        self.assertTrue(all(len(s["ends"]) == 1 for s in stories.values()))
        served = [s for s in stories.values() if s["ends"][0][0] == "served"]
        self.assertEqual(len(served), sum(s.status == 200 for s in seen))

        report = json.loads(self.gateway.run("ledger", "report", self.gateway.spine, "--json"))
        whole = sum(s.cost_nano for s in seen)
        actual = nano(report["headline"]["actual_marginal_usd"])
        self.assertGreater(whole, 0)
        self.assertLessEqual(whole, actual, "clients were told of more than it cost")
        usage = {}
        for story in stories.values():
            for offer, _, billed in story["attempts"]:
                for unit, count in billed.items():
                    usage[offer, unit] = usage.get((offer, unit), 0) + count
        places = sorted(self.places, key=lambda p: p.name)  # offers are numbered by name, from 1
        by_hand = sum(count * int(places[offer - 1].usd * 1000) * (4 if unit == 4 else 1) for (offer, unit), count in usage.items())
        self.assertEqual(actual, by_hand, f"the report against every attempt, by hand: {usage}")

        total = json.loads(self.gateway.run("analyze", "--spine", self.gateway.spine, "--json"))["realised"]["total"]
        self.assertEqual(total["realised"]["requests"], len(seen))
        self.assertEqual(nano(total["realised"]["marginal_usd"]), actual, "what it cost, read a third time")
        self.assertGreater(total["realised"]["spilled_share"], 0)
        predicted = nano(total["predicted"]["marginal_usd"])
        print(f"cost of these arrivals: predicted {predicted / 1e9:.6f} USD, realised {actual / 1e9:.6f} USD ({predicted / actual - 1:+.1%}); "
              f"TTFT p95: {total['predicted']['ttft_s_p95']} s, {total['realised']['ttft_s_p95']} s; spilled: {total['predicted']['spilled_share']:.1%}, {total['realised']['spilled_share']:.1%}")


if __name__ == "__main__":
    ACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
