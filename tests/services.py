"""Servers for the tests and benchmarks of the gateway: started on free ports of this machine, watched, and ended by their own ids."""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.request

TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(holds, seconds=10, what="it did not come about"):
    """What `holds` returns once that is something true."""
    deadline = time.monotonic() + seconds
    while not (got := holds()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} within {seconds} s")
        time.sleep(0.02)
    return got


class Service:
    """A process of ours. Its output goes to files, so that nothing waits for a reader and a test can look at all of it."""

    def __init__(self, command, folder, name, env=None, preexec_fn=None):
        self.out_path, self.err_path = pathlib.Path(folder, f"{name}.out"), pathlib.Path(folder, f"{name}.err")
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen([*map(str, command)], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env={**os.environ, **(env or {})}, preexec_fn=preexec_fn)
        self.pid, self.name = self.process.pid, name

    def out(self):
        return self.out_path.read_text("utf-8", "replace")

    def err(self):
        return self.err_path.read_text("utf-8", "replace")

    def check(self):
        if not self.alive():
            raise AssertionError(f"{self.name} ended with {self.process.returncode}: {self.err()[-2000:]}")

    def wait_for_port(self, port, seconds=15):
        def listens():
            self.check()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return True

        until(listens, seconds, f"{self.name} did not listen on port {port}")

    def first_line(self, seconds=15):
        def line():
            self.check()
            first, end, _ = self.out().partition("\n")
            return end and first

        return until(line, seconds, f"{self.name} did not print a line")

    def alive(self):
        return self.process.poll() is None

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def cpu_seconds(self):
        """User and system time, of all threads."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) / TICK, int(fields[12]) / TICK

    def memory_mib(self):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.pid}/status").read_text()).group(1)) / 1024

    def stop(self, seconds=20):
        """Asks it to end, and waits. @return its exit code"""
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.name} did not end within {seconds} s of SIGTERM: {self.err()[-2000:]}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.stop()
        elif self.alive():
            self.process.kill()
            self.process.wait()


class Provider(Service):
    """`ace simulate-provider` (docs/SIMULATED_PROVIDER.md)."""

    def __init__(self, ace, folder, name="provider", script=None, port=0):
        path = pathlib.Path(folder, f"{name}.script.yaml")
        path.write_text(json.dumps(script or {}))
        super().__init__([ace, "simulate-provider", "--port", port, "--script", path], folder, name)
        self.url = self.first_line()
        self.port = int(self.url.rsplit(":", 1)[1])

    def follow(self, script):
        """Another script; the numbers of requests begin anew."""
        request = urllib.request.Request(f"{self.url}/simulated/script", json.dumps(script).encode(), method="PUT")
        urllib.request.urlopen(request, timeout=5).read()

    def seen(self):
        return json.load(urllib.request.urlopen(f"{self.url}/simulated/requests", timeout=5))


class Answer:
    """One HTTP response, as it came."""

    def __init__(self, head, body, whole):
        status, *fields = head.decode("latin-1").split("\r\n")
        self.status = int(status.split(" ")[1])
        self.fields = {name.lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)}
        self.body, self.whole = body, whole  # whole: it ended as its head said it would

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """ACE's own code of an error, in either API's words; None if it is no such error."""
        try:
            error = self.json["error"]
            return error.get("code") or error.get("type")
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def events(self):
        """The data of its server-sent events."""
        return [line[5:].strip() for line in self.body.decode("utf-8", "replace").splitlines() if line.startswith("data:")]


def read_answer(connection, data=b""):
    """@return an Answer and the bytes behind it; None and what came where there is no whole head"""
    def more():
        nonlocal data
        try:
            piece = connection.recv(65536)
        except ConnectionError:
            piece = b""
        data += piece
        return bool(piece)

    while b"\r\n\r\n" not in data:
        if not more():
            return None, data
    head, _, data = data.partition(b"\r\n\r\n")
    answer = Answer(head, b"", True)
    if answer.status // 100 == 1:
        return read_answer(connection, data)
    if "content-length" in answer.fields:
        length = int(answer.fields["content-length"])
        while len(data) < length and more():
            pass
        answer.body, answer.whole, data = data[:length], len(data) >= length, data[length:]
    elif answer.fields.get("transfer-encoding") == "chunked":
        while True:
            while b"\r\n" not in data:
                if not more():
                    answer.whole = False
                    return answer, data
            size, _, rest = data.partition(b"\r\n")
            length = int(size, 16)
            while len(rest) < length + 2:
                if not more():
                    answer.whole = False
                    answer.body += rest[:length]
                    return answer, b""
                rest = data.partition(b"\r\n")[2]
            answer.body, data = answer.body + rest[:length], rest[length + 2:]
            if length == 0:
                break
    elif answer.status not in (204, 304):
        while more():
            pass
        answer.body, data = data, b""
    return answer, data


def request_bytes(path, body=None, key=None, fields=(), method=None):
    body = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
    lines = [f"{method or ('GET' if body is None else 'POST')} {path} HTTP/1.1", "Host: ace"]
    if key:
        lines.append(f"Authorization: Bearer {key}")
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *fields, "", ""]).encode("latin-1") + (body or b"")


def exchange(port, data, seconds=20):
    """Sends bytes over a connection of their own. @return the Answer, None if none came; a timeout is a TimeoutError"""
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.settimeout(seconds)
        with contextlib.suppress(ConnectionError):  # it may answer, and close, before it has read all of it
            connection.sendall(data)
        return read_answer(connection)[0]
