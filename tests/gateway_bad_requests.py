"""What must not reach a provider: requests that are no HTTP, and bodies that are no requests. Ids are those of our list of bad
inputs, H for HTTP and J for JSON. `gateway_inputs_test.py` sends them."""
import dataclasses
import gzip
import json

HOST = "Host: ace\r\n"
CHAT = '{"model":"large","messages":[{"role":"user","content":"hi"}]}'
KEY = "{key}"  # stands for a key that is good


@dataclasses.dataclass
class Http:
    """Bytes of a connection, and how they are answered. The connection is closed then, and nothing has gone upstream."""

    id: str
    why: str
    data: bytes
    status: tuple
    code: str = None
    good: bool = False  # a valid request: 200, and it goes upstream once
    closes: bool = True
    ends: bool = False  # the client sends no more after it


def http(id, why, head, body="", status=(400,), code=None, **more):
    data = head if isinstance(head, bytes) else head.encode("latin-1")
    data += body if isinstance(body, bytes) else body.encode("utf-8")
    return Http(id, why, data, status if isinstance(status, tuple) else (status,), code, **more)


def post(*fields, path="/v1/chat/completions", version="HTTP/1.1", host=HOST, method="POST", length=None, key=True, json_type=True):
    """The head of a request, ending in an empty line."""
    lines = [f"{method} {path} {version}\r\n", host]
    if key:
        lines.append(f"Authorization: Bearer {KEY}\r\n")
    if json_type:
        lines.append("Content-Type: application/json\r\n")
    lines += [f"{field}\r\n" for field in fields]
    if length is not None:
        lines.append(f"Content-Length: {length}\r\n")
    return "".join(lines) + "\r\n"


def get(path, *fields, **more):
    return post(*fields, path=path, method="GET", json_type=False, **more)


def chunked(chunks, *fields):
    return post("Transfer-Encoding: chunked", *fields).encode("latin-1") + chunks


SIZE = len(CHAT)
CODING = [",chunked", "chunked, chunked", "chunked, identity", "identity", "xchunked", "chunked\x0b", '"chunked"', ""]
CHUNK_SIZES = [b"0_2e", b"0x5", b"+5", b"-1", b" 5", b"5 ", b"", b"12345678901234567", b"5\t"]
HOSTS = ["", HOST + HOST, "Host: ace, evil\r\n", "Host: localhost:4000/#@evil\r\n", "Host: u:p@ace\r\n", "Host: ace:99999\r\n", "Host: [::1\r\n"]
NOWHERE = ["/v1/../admin/kill", "//admin", "/v1/%2e%2e/admin", "/admin%2fkill", "/%252e%252e/", "/admin;x", "/V1/chat/completions", "/v1/chat/completions/", "/v1/chat//completions"]

HTTP = [
    http("H01", "a length and a coding", post("Content-Length: 5", "Transfer-Encoding: chunked"), "0\r\n\r\n", code="length_conflict"),
    http("H02", "two lengths", post("Content-Length: 5", "Content-Length: 6"), "hello", code="length_conflict"),
    http("H02", "two equal lengths", post("Content-Length: 5", "Content-Length: 5"), "hello", code="length_conflict"),
    http("H02", "a list of lengths", post("Content-Length: 5, 5"), "hello"),
    http("H04", "a length with a zero in front", post(f"Content-Length: 0{SIZE}"), CHAT, 200, good=True, closes=False),
    http("H05", "a length beyond 64 bits", post("Content-Length: 18446744073709551616"), status=(400, 413)),
    http("H05", "a length of 400 digits", post("Content-Length: " + "9" * 400), status=(400, 413)),
    http("H06", "a body over the limit, not sent", post("Content-Length: 10485761", "Expect: 100-continue"), status=413),
    *[http("H07", f"coding {c!r}", post("Transfer-Encoding: " + c), "0\r\n\r\n", (400, 501)) for c in CODING],
    http("H07", "two codings", post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), "0\r\n\r\n"),
    *[http("H09", f"chunk size {s!r}", chunked(s + b"\r\nhello\r\n0\r\n\r\n")) for s in CHUNK_SIZES],
    http("H10", "LF in a chunk's extension", chunked(b"2;\nxx\r\n0\r\n\r\n")),
    http("H10", "CR CR behind a chunk's size", chunked(b"5\r\r;A\r\nhello\r\n0\r\n\r\n")),
    http("H10", "a quoted line end in an extension", chunked(b'5;a="\r\nb"\r\nhello\r\n0\r\n\r\n')),
    http("H10", "an extension", chunked(b"5;a=b\r\nhello\r\n0\r\n\r\n")),
    http("H11", "no line end behind a chunk", chunked(b"5\r\nhelloXX0\r\n\r\n")),
    http("H11", "something behind the last chunk", chunked(b"0\r\nX\r\n\r\n")),
    http("H12", "the last chunk ends in LF", chunked(b"5\r\nhello\r\n0\n\r\n")),
    http("H12", "a head in bare LF", post(length=SIZE).replace("\r\n", "\n"), CHAT),
    *[http("H14", f"NUL in {where}", post(length=SIZE).replace(old, new, 1), CHAT, (400, 405))
      for where, old, new in (("the method", "POST", "PO\0ST"), ("the target", "/v1", "/v\0"), ("a name", "Content-T", "Content\0T"), ("a value", "json", "js\0on"))],
    http("H15", "a folded field", post("Foo: a\r\n b", length=SIZE), CHAT, code="obsolete_fold"),
    http("H15", "a fold behind a coding", post("Transfer-Encoding: chunked\r\n identity"), "0\r\n\r\n"),
    http("H16", "a blank before the colon", post(f"Content-Length : {SIZE}"), CHAT),
    http("H16", "a tab before the colon", post(length=SIZE, host="Host\t: ace\r\n"), CHAT),
    http("H17", "a blank before the first field", post(length=SIZE, host=" Host: ace\r\n"), CHAT),
    *[http("H19", f"a name with {c!r}", post(f"x{c}y: 1", length=SIZE), CHAT) for c in '\x85\xa0\xef"(/@ '],
    *[http("H20", f"{name}, which becomes one of ours", post(f"{name}: 5", length=SIZE), CHAT) for name in ("x_api_key", "content_length", "transfer_encoding")],
    *[http("H21", f"host {h!r}", post(length=SIZE, host=h), CHAT) for h in HOSTS],
    http("H22", "an absolute target elsewhere", get("http://169.254.169.254/latest/"), status=421),
    *[http("H24", f"target {t}", get(t), status=404, closes=False) for t in NOWHERE],
    *[http("H24", f"target {t}", get(t), status=400) for t in ("/v1/chat/completions%00", "\\admin", "/v1\\chat")],
    http("H25", "a blank in the target", get("/a b")),
    http("H25", "a raw byte of 0xe9 in the target", get("/a\xe9")),
    *[http("H26", f"method {m}", post(method=m, length=SIZE), CHAT, (400, 405, 501)) for m in ("PoST", "G" * 40, 'G=":<>')],
    http("H26", "a method that an operation has not", post(method="DELETE", json_type=False), status=(404, 405), closes=False),
    *[http("H27", f"version {v!r}", post(version=v, length=SIZE), CHAT, (400, 505)) for v in ("HTTP/1.10", "HTTP/2.0", "HTTP/1.", "HTTP/\r1.1", "HTTP/4294967295.255")],
    http("H27", "a simple request", "GET /\r\n\r\n", status=(400, 505)),
    http("H29", "a request line over its limit", get("/" + "a" * 8193), status=414),
    http("H29", "a head over its limit", post(*[f"a{i}: {'b' * 1000}" for i in range(34)], length=SIZE), CHAT, 431),
    http("H29", "101 fields", post(*[f"a{i}: b" for i in range(101)], length=SIZE), CHAT, 431),
    http("H29", "a field that does not end", post().rstrip("\r\n") + "\r\na: " + "b" * 2**20, status=431),
    http("H30", "an expectation with a bad key", post("Expect: 100-continue", length=SIZE, key=False), status=401, closes=False, ends=True),
    http("H30", "an unknown expectation", post("Expect: 200-ok", length=SIZE), CHAT, 417),
    *[http("H31", f"Connection nominates {n}", post(f"Connection: close, {n}", length=SIZE), CHAT) for n in ("Authorization", "Host", "Content-Length", "Content-Type")],
    http("H31", "Connection nominates a field of no weight", post("Connection: keep-alive, X-Thing", "X-Thing: 1", length=SIZE), CHAT, 200, good=True, closes=False),
    *[http("H32", f"an upgrade to {u}", post("Connection: upgrade", f"Upgrade: {u}", length=SIZE), CHAT, 200, good=True, closes=False) for u in ("h2c", "websocket")],
    *[http("H34", f"a body in {c}", post(f"Content-Encoding: {c}", length=len(gzip.compress(b"x" * 2**20))), gzip.compress(b"x" * 2**20), 415) for c in ("gzip", "gzip, gzip", "br")],
    http("H35", "a trailer that names a field of weight", chunked(b"%x\r\n%s\r\n0\r\nAuthorization: Bearer x\r\n\r\n" % (SIZE, CHAT.encode())), status=(200, 400), closes=False, good=None),
    http("H36", "a body with GET", get("/v1/models", length=5), "hello"),
    http("H36", "no length with POST", post(), status=411),
    http("H37", "multipart on a JSON route", post("Content-Type: multipart/form-data; boundary=" + "-" * 4096, length=SIZE, json_type=False), CHAT, 415, closes=False),
    *[http("H39", f"a key of {name}", post(f"Authorization: Bearer {k}", length=SIZE, key=False), CHAT, (400, 401), closes=False)
      for name, k in (("nothing", ""), ("SQL", "' OR 1=1--"), ("a thousand blanks", " " * 1000), ("four thousand letters", "k" * 4000), ("UTF-8", "\xc3\xa4"))],
    http("H39", "a key of NUL", post("Authorization: Bearer \0", length=SIZE, key=False), CHAT, 400),
    http("H39", "a field of 10 MiB", post("Authorization: Bearer " + "k" * 2**20, length=SIZE, key=False), CHAT, 431),
    http("H39", "no key", post(length=SIZE, key=False), CHAT, 401, closes=False),
    http("H41", "half a body", post(length=SIZE + 50), CHAT, (), ends=True),
]

BIG = '{"model":"large","messages":[{"role":"user","content":"hi"}],%s}'


@dataclasses.dataclass
class Json:
    """A body, the status it gets in the shape of the API that was called, a code, and a word that the message has."""

    id: str
    why: str
    body: bytes
    status: int = 400
    code: str = None
    says: str = ""
    path: str = "/v1/chat/completions"
    fields: tuple = ()


def body(id, why, text, status=400, code=None, says="", path="/v1/chat/completions", fields=()):
    return Json(id, why, text if isinstance(text, bytes) else text.encode(), status, code, says, path, fields)


def image(url):
    return json.dumps({"model": "large", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]})


VERSION = ("anthropic-version: 2023-06-01",)
MESSAGES = "/v1/messages"

JSON = [
    body("J01", "a key twice", '{"model":"large","model":"costly","messages":[]}', code="duplicate_key"),
    body("J02", "100,000 brackets", "[" * 100_000, code="too_deep"),
    body("J02", "depth 65", BIG % ('"tools":' + "[" * 64 + "]" * 64), code="too_deep"),
    *[body("J03", f"max_tokens {v}", BIG % f'"max_tokens":{v}', says="max_tokens") for v in ("1e400", "99999999999999999999", "-1", "0", "1.5", '"5"', "true")],
    *[body("J05", f"number {v}", BIG % f'"seed":{v}', code="invalid_json") for v in ("NaN", "Infinity", "-Infinity", "0x10", "01", "+1", ".5", "1.")],
    *[body("J06", f"surrogate {v}", BIG % f'"user":"{v}"', code="invalid_unicode") for v in (r"\ud800", r"\udc00\ud800")],
    *[body("J07", f"bytes {v!r}", (BIG % '"user":"@"').encode().replace(b"@", v)) for v in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80")],
    body("J07", "a byte order mark", b"\xef\xbb\xbf" + CHAT.encode()),
    body("J07", "UTF-16", CHAT.encode("utf-16")),
    *[body("J08", f"model {v[:20]!r}", CHAT.replace('"large"', json.dumps(v)), 404, "model_not_found") for v in ("gpt\0x", "a/../large", "m" * 10_240, "large ", "lаrge")],
    *[body("J10", f"body {v!r}", v) for v in ("null", "[]", '"x"', "   ", "")],
    *[body("J11", f"parameter {v}", BIG % f'"{v}":"http://127.0.0.1"', code="forbidden_parameter", says=v) for v in ("api_base", "base_url", "api_key", "custom_llm_provider", "extra_headers", "mock_response", "user_config")],
    *[body("J12", f"stream {v}", BIG % f'"stream":{v}', says="stream") for v in ('"true"', "1")],
    body("J15", "1,001 keys", BIG % ",".join(f'"k{i}":1' for i in range(1001))),
    body("J16", "a number of a million digits", BIG % ('"seed":' + "1" * 10**6)),
    *[body("J17", f"image {v}", image(v)) for v in ("http://169.254.169.254/", "file:///etc/passwd", "http://127.0.0.1\\@ok.com/", "http://0x7f000001/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/")],
    *[body("J21", f"parameter {v}", BIG % f'"{v}":{{}}', says=v) for v in ("chat_template", "chat_template_kwargs", "guided_decoding_backend", "documents")],
    body("J23", "messages without max_tokens", CHAT.replace("large", "claude-large"), path=MESSAGES, fields=VERSION, says="max_tokens"),
    body("J23", "messages without a version", CHAT.replace("large", "claude-large")[:-1] + ',"max_tokens":5}', path=MESSAGES, says="anthropic-version"),
    body("J01", "a key twice, of messages", '{"model":"claude-large","model":"b"}', path=MESSAGES, fields=VERSION),
    body("J10", "no object, of messages", "[]", path=MESSAGES, fields=VERSION),
    body("J10", "no object, of responses", "[]", path="/v1/responses"),
    body("J10", "no object, of embeddings", "[]", path="/v1/embeddings"),
]
