#!/usr/bin/env python3
"""Clients that are slow, greedy or gone, over real sockets against `ace serve`.

    gateway_hostile_test.py ACE [PART OF A NAME]...
"""
import concurrent.futures
import contextlib
import gzip
import json
import pathlib
import resource
import select
import socket
import sys
import time
import traceback

import gateway_world
import services
from gateway_world import Gateway, Place
from services import Provider, request_bytes

ASK = {"model": "large", "messages": [{"role": "user", "content": "hi"}]}
CHAT = request_bytes("/v1/chat/completions", ASK)
STREAM = request_bytes("/v1/chat/completions", {**ASK, "stream": True})
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: ace\r\nContent-Type: application/json\r\n"


class World(contextlib.ExitStack):
    """A gateway over one simulated provider, in a folder of its own."""

    def __init__(self, ace, script=None, **gateway):
        super().__init__()
        folder = self.enter_context(gateway_world.folder())
        self.provider = self.enter_context(Provider(ace, folder, script=script))
        self.gateway = self.enter_context(Gateway(ace, folder, [Place("near", self.provider.url)], **gateway))
        self.port = self.gateway.port

    def connect(self):
        connection = self.enter_context(socket.create_connection(("127.0.0.1", self.port), 10))
        connection.settimeout(20)
        return connection

    def serves(self):
        answer = services.exchange(self.port, CHAT, 5)
        assert answer.status == 200, answer.body

    def story(self):
        """Of its one request. The gateway is ended for it."""
        self.gateway.stop()
        self.gateway.run("verify", self.gateway.spine)
        stories = list(self.gateway.stories().values())
        assert len(stories) == 1, stories
        return stories[0]


def closed_within(connections, seconds):
    """How many of them the other side has closed by then."""
    deadline, poller, by_fd = time.monotonic() + seconds, select.poll(), {}
    for connection in connections:
        by_fd[connection.fileno()] = connection
        poller.register(connection, select.POLLIN)
    while by_fd and time.monotonic() < deadline:
        for fd, _ in poller.poll(200):
            try:
                ended = by_fd[fd].recv(65536) == b""
            except ConnectionError:
                ended = True
            if ended:
                poller.unregister(fd)
                del by_fd[fd]
    return len(connections) - len(by_fd)


def send_slowly(connections, byte, every, stop_at):
    while time.monotonic() < stop_at:
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.send(byte)
        time.sleep(every)


def slow_heads_end_after_ten_seconds_in_all(ace):
    with World(ace) as world, concurrent.futures.ThreadPoolExecutor(1) as pool:
        world.serves()
        memory = world.gateway.memory_mib()
        slow = [world.connect() for _ in range(300)]
        for connection in slow:
            connection.sendall(HEAD)
        sending = pool.submit(send_slowly, slow, b"a", 1, time.monotonic() + 10)
        for _ in range(10):
            world.serves()
            time.sleep(0.5)
        assert world.gateway.memory_mib() - memory < 300 * 40 / 1024, "more than 40 KiB for each"
        assert closed_within(slow, 7) == 300, "slow heads are still open"
        sending.result()
        assert [r["outcome"] for r in world.provider.seen()] == ["answered"] * 11, "something of them went upstream"


def slow_bodies_end_after_their_grace(ace):
    with World(ace) as world, concurrent.futures.ThreadPoolExecutor(1) as pool:
        slow = [world.connect() for _ in range(100)]
        for connection in slow:
            connection.sendall(HEAD + b"Content-Length: 100000\r\n\r\n")
        sending = pool.submit(send_slowly, slow, b" " * 10, 1, time.monotonic() + 9)
        assert closed_within(slow, 12) == 100, "slow bodies are still open"
        sending.result()
        assert world.provider.seen() == []
        world.serves()


def a_reader_that_does_not_read_stops_the_provider_and_is_cut(ace):
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "large", "choices": [{"index": 0, "delta": {"content": "x" * 1000}, "finish_reason": None}]}
    with World(ace, {"faults": [{"do": "event", "event": 2, "text": f"data: {json.dumps(chunk)}\n\n", "count": 40_000}]}) as world:
        memory = world.gateway.memory_mib()
        connection = world.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(STREAM)
        time.sleep(3)
        assert world.gateway.memory_mib() - memory < 8, "it was buffered"
        [seen] = world.provider.seen()
        assert seen["outcome"] == "going", "40 MB went somewhere"
        services.until(lambda: world.provider.seen()[0]["outcome"] == "gone", 40, "the provider was not left")
        story = world.story()
        assert story["ends"][0][0] == "client_abort" and story["ends"][0][1].get(4, 0) > 0, story


def leaves(script, request, when):
    """A client that closes once the provider has seen its request and `when` tokens have come; how the provider and the ledger end."""
    def run(ace):
        with World(ace, script) as world:
            before = world.gateway.descriptors()
            connection = socket.create_connection(("127.0.0.1", world.port), 5)
            connection.sendall(request)
            services.until(world.provider.seen, 5, "nothing went upstream")
            got = b""
            while got.count(b'"content":"') < when + 1 and when:
                got += connection.recv(65536)
            connection.close()
            services.until(lambda: world.provider.seen()[0]["outcome"] == "gone", 2, "the provider was not left")
            services.until(lambda: world.gateway.descriptors() <= before, 5, "a descriptor is left")
            story = world.story()
            assert [end for end, _ in story["ends"]] == ["client_abort"], story
            used = story["ends"][0][1]
            assert used.get(0, 0) > 0, f"the prompt is not booked: {story}"
            assert (used.get(4, 0) >= when) and used.get(4, 0) < 400, story
    return run


def half_a_request_costs_nothing(ace):
    with World(ace) as world:
        for sent in (b"POST /v1", HEAD, HEAD + b"Content-Length: 100\r\n\r\n", CHAT[:-5]):
            connection = socket.create_connection(("127.0.0.1", world.port), 5)
            connection.sendall(sent)
            connection.close()
        world.serves()
        assert len(world.provider.seen()) == 1
        assert len(world.story()["ends"]) == 1


def idle_connections_cost_little_and_disturb_nobody(ace, count=2000):
    with World(ace) as world:
        world.serves()
        memory = world.gateway.memory_mib()
        for _ in range(count):
            world.connect()
        services.until(lambda: world.gateway.descriptors() >= count, 10, "they were not accepted")
        for _ in range(20):
            world.serves()
        each = (world.gateway.memory_mib() - memory) * 1024 / count
        assert each < 16, f"{each:.1f} KiB for each idle connection"


def without_descriptors_it_waits_and_recovers(ace):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))

    with World(ace, preexec_fn=limit) as world:
        world.serves()
        crowd = []
        for _ in range(400):
            crowd.append(socket.create_connection(("127.0.0.1", world.port), 5))
        time.sleep(1)
        busy = sum(world.gateway.cpu_seconds())
        time.sleep(2)
        spent = sum(world.gateway.cpu_seconds()) - busy
        assert spent < 0.2, f"it spins: {spent:.2f} s of CPU in 2 s"
        for connection in crowd:
            connection.close()
        time.sleep(0.5)
        world.serves()
        world.gateway.stop()
        world.gateway.run("verify", world.gateway.spine)
        assert [s["ends"][0][0] for s in world.gateway.stories().values()] == ["served"] * 2


def what_is_too_large_is_refused_before_it_is_held(ace):
    with World(ace) as world:
        world.serves()
        memory = world.gateway.memory_mib()
        bomb = gzip.compress(bytes(10 * 2**20))
        piece = b"100000\r\n" + b" " * 2**20 + b"\r\n"
        for data, status in (
            (HEAD + b"Content-Length: 1073741824\r\n\r\n", 413),
            (HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + piece * 11, 413),
            (HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb, 415),
            (request_bytes("/v1/chat/completions", b"[" * 1_000_000), 400),
            (request_bytes("/v1/chat/completions", b'{"model":"large","x":{' + b",".join(b'"k%d":1' % i for i in range(400_000)) + b"}}"), 400),
            (request_bytes("/v1/chat/completions", b'{"model":"large","seed":' + b"1" * 1_000_000 + b"}"), 400),
            (request_bytes("/v1/chat/completions", b'{"model":"large","user":"' + b"x" * (11 * 2**20) + b'"}'), 413),
        ):
            answer = services.exchange(world.port, data, 10)
            assert answer is not None and answer.status == status, f"{data[:120]!r}: {answer and answer.status}"
        assert world.gateway.memory_mib() - memory < 64, f"{world.gateway.memory_mib() - memory:.0f} MiB more"
        assert len(world.provider.seen()) == 1
        world.serves()


def many_connections_one_after_the_other(ace, count=3000):
    with World(ace) as world:
        world.serves()
        before = world.gateway.descriptors()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for answer in pool.map(lambda _: services.exchange(world.port, CHAT, 10), range(count)):
                assert answer.status == 200
        services.until(lambda: world.gateway.descriptors() <= before + 8, 5, "descriptors are left")
        world.gateway.stop()
        assert len(world.gateway.stories()) == count + 1


TESTS = {
    "slow heads end after ten seconds in all": slow_heads_end_after_ten_seconds_in_all,
    "slow bodies end after their grace": slow_bodies_end_after_their_grace,
    "a reader that does not read stops the provider and is cut": a_reader_that_does_not_read_stops_the_provider_and_is_cut,
    "a client that leaves while it waits for a whole answer": leaves({"ttft": "10s"}, CHAT, 0),
    "a client that leaves while it waits for a stream": leaves({"ttft": "10s"}, STREAM, 0),
    "a client that leaves after the first token": leaves({"tokens": 500, "tpot": "20ms"}, STREAM, 1),
    "a client that leaves in the middle of a stream": leaves({"tokens": 500, "tpot": "20ms"}, STREAM, 10),
    "half a request costs nothing": half_a_request_costs_nothing,
    "idle connections cost little and disturb nobody": idle_connections_cost_little_and_disturb_nobody,
    "without descriptors it waits and recovers": without_descriptors_it_waits_and_recovers,
    "what is too large is refused before it is held": what_is_too_large_is_refused_before_it_is_held,
    "many connections one after the other": many_connections_one_after_the_other,
}


def main():
    ace, parts = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    chosen = {name: run for name, run in TESTS.items() if not parts or any(part in name for part in parts)}

    def attempt(item):
        name, run = item
        try:
            run(ace)
            return f"PASS {name}"
        except Exception:
            return f"FAIL {name}\n{traceback.format_exc(limit=4)}"

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for line in pool.map(attempt, chosen.items()):
            failed += line.startswith("FAIL")
            print(line, flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} tests passed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
