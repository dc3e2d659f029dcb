#!/usr/bin/env python3
"""What a proxy on our HTTP code sends upstream, other parsers read as the same requests, whatever a client sent.

    smuggling_test.py NET_PROXY [INPUTS, default 1500] [SEED]

Valid and hostile requests, whole and mutated, go through the proxy to an upstream that keeps the bytes as they came. Then three
parsers read those bytes: a plain one of this script, Python's http.server and, where there is one, node's. They must agree on how
many requests there are and on each one's method, target and body; and no more requests may have reached the upstream than answers
reached the clients.
"""
import base64
import concurrent.futures
import hashlib
import http.server
import io
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HOST = "Host: ace\r\n"
SEEDS = [
    "POST /v1/chat/completions HTTP/1.1\r\n" + HOST + "Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"model\":\"m\"}",
    "POST /v1/x?a=b HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
    "GET /v1/models HTTP/1.1\r\n" + HOST + "\r\n",
    "POST / HTTP/1.1\r\n" + HOST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + "\r\n",
    "POST / HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + "\r\n",
    "POST / HTTP/1.1\r\n" + HOST + "Transfer-Encoding : chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + "\r\n",
    "POST / HTTP/1.1\r\n" + HOST + "Content-Length: 4\r\nContent-Length: 40\r\n\r\nabcdGET /smuggled HTTP/1.1\r\n" + HOST + "\r\n",
    "POST / HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n2;\nxx\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + "\r\n",
    "POST / HTTP/1.1\r\n" + HOST + "Transfer-Encoding:\x0bchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + "\r\n",
    "GET / HTTP/1.1\r\n" + HOST + "X: a\r\n Content-Length: 30\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + "\r\n",
    "GET /a\tHTTP/1.1\r\n" + HOST + "\r\n",
    "GET http://other/ HTTP/1.1\r\n" + HOST + "\r\n",
    "POST / HTTP/1.1\r\n" + HOST + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
    "GET / HTTP/1.1\r\n" + HOST + "Content-Length: 30\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + "\r\n",
]
PIECES = ["\r\n", "\n", "\r", " ", "\t", ":", "\0", "\x0b", "\x85", ",", ";", "0", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n",
          "HTTP/1.1", "HTTP/1.0", "GET /smuggled HTTP/1.1\r\n" + HOST + "\r\n", "%00", "\\", "_", "Connection: close\r\n"]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def mutated(rng):
    text = "".join(rng.choice(SEEDS) for _ in range(rng.choice((1, 1, 2))))
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        at = rng.randrange(len(text))
        kind = rng.randrange(3)
        if kind == 0:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randrange(1, 4):]
        else:
            text = text[:at] + rng.choice(PIECES) + text[at + 1:]
    return text.encode("latin-1")


def plain_requests(data):
    """The requests of a byte stream in which every head ends in an empty line and every body has a Content-Length."""
    out = []
    while data:
        head, separator, rest = data.partition(b"\r\n\r\n")
        assert separator, f"half a head went upstream: {data!r}"
        first, *lines = head.split(b"\r\n")
        method, target, version = first.split(b" ")
        assert version == b"HTTP/1.1", first
        lengths = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
        assert len(lengths) <= 1 and not any(line.lower().startswith(b"transfer-encoding") for line in lines), head
        length = lengths[0] if lengths else 0
        assert len(rest) >= length, f"half a body went upstream: {data!r}"
        out.append((method.decode(), target.decode("latin-1"), hashlib.sha256(rest[:length]).hexdigest()))
        data = rest[length:]
    return out


class Upstream(threading.Thread):
    """Keeps what comes on each connection, and answers each request."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.streams, self.answered = [], 0

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = bytearray()
        self.streams.append(stream)
        done = 0
        while True:
            data = connection.recv(65536)
            if not data:
                return
            stream += data
            try:
                count = len(plain_requests(bytes(stream)))
            except AssertionError:
                continue  # more is to come
            for _ in range(count - done):
                self.answered += 1
                connection.sendall(ANSWER)
            done = count


class ReadAll(http.server.BaseHTTPRequestHandler):
    """Python's own reader over bytes in memory."""

    def __init__(self, data):
        self.rfile, self.wfile = io.BytesIO(data), io.BytesIO()
        self.client_address, self.found, self.close_connection = ("test", 0), [], False
        while self.rfile.tell() < len(data):
            self.raw_requestline = self.rfile.readline(65537)
            if not self.parse_request():
                raise AssertionError(f"http.server refuses what we sent: {self.wfile.getvalue()!r}")
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            target = self.requestline.split(" ")[1]  # self.path has lost slashes in front
            self.found.append((self.command, target, hashlib.sha256(body).hexdigest()))

    def log_message(self, *_):
        pass


NODE = """
const http = require('http'), net = require('net'), crypto = require('crypto');
let text = ''; process.stdin.on('data', d => text += d); process.stdin.on('end', async () => {
  const all = [];
  for (const stream of JSON.parse(text)) {
    const found = [];
    await new Promise(done => {
      const server = http.createServer((q, a) => { const h = crypto.createHash('sha256'); q.on('data', d => h.update(d));
        q.on('end', () => { found.push([q.method, q.url, h.digest('hex')]); a.end(); }); });
      server.on('clientError', e => { found.push(['error', e.code, '']); done(); });
      server.listen(0, '127.0.0.1', () => { const c = net.connect(server.address().port, '127.0.0.1');
        c.on('data', () => {}); c.on('close', () => server.close(done)); c.on('error', () => {});
        c.end(Buffer.from(stream, 'base64')); });
    });
    all.push(found);
  }
  console.log(JSON.stringify(all));
});
"""


def node_requests(streams):
    text = json.dumps([base64.b64encode(bytes(s)).decode() for s in streams])
    done = subprocess.run(["node", "-e", NODE], input=text, capture_output=True, text=True, timeout=120, check=True)
    return [[tuple(r) for r in found] for found in json.loads(done.stdout)]


def exchange(port, data):
    """Sends the bytes; what came back until the proxy closed or said nothing for a while."""
    got = b""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as s:
            s.sendall(data)
            s.settimeout(0.2)
            while piece := s.recv(65536):
                got += piece
    except (ConnectionError, socket.timeout):
        pass
    return got


def main():
    proxy = sys.argv[1]
    inputs = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    upstream = Upstream()
    upstream.start()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    process = subprocess.Popen([proxy, "proxy", str(port), str(upstream.port)])
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        texts = [text.encode("latin-1") for text in SEEDS] + [mutated(rng) for _ in range(inputs - len(SEEDS))]
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(lambda data: exchange(port, data), texts))
        passed = sum(got.count(b"HTTP/1.1 200 OK") for got in answers)
        refused = sum(got.count(b"\r\nConnection: close") for got in answers)
        assert process.poll() is None, "the proxy ended"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)

    want = [plain_requests(bytes(s)) for s in upstream.streams]
    count = sum(map(len, want))
    for stream, requests in zip(upstream.streams, want):
        found = ReadAll(bytes(stream)).found
        assert found == requests, f"http.server reads other requests (seed {seed}): {found} instead of {requests}"
    parsers = "http.server"
    if shutil.which("node"):
        parsers += " and node"
        for ours, theirs in zip(want, node_requests(upstream.streams)):
            assert theirs == ours, f"node reads other requests (seed {seed}): {theirs} instead of {ours}"
    assert passed <= count, "more answers than requests"
    assert passed > inputs // 20 and refused > inputs // 20, f"the inputs prove nothing: {passed} passed, {refused} refused"
    print(f"{inputs} inputs: {count} requests went upstream, {refused} were refused; {parsers} agree (seed {seed})")


if __name__ == "__main__":
    main()
