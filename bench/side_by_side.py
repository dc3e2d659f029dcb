"""What benchmarks of proxies beside others share: nginx as the plain proxy, wrk as the load, samples and their tables.

Proxies run alone on core 0, load and upstream on core 1. Rounds alternate between the proxies, so that what else the machine does
meets all of them; medians are printed. Trust ratios and CPU: where a proxy's core is not busy, the load's core was the limit.
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import services  # noqa: E402

PROXY_CORE, LOAD_CORE = 0, 1

NGINX = """
daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
worker_rlimit_nofile {descriptors};
events {{ worker_connections {connections}; }}
http {{
  access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; keepalive_requests 1000000;
  client_max_body_size 10m; client_body_buffer_size 512k; proxy_read_timeout 600s;
  upstream mock {{ server 127.0.0.1:{upstream}; keepalive 512; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port} reuseport backlog=4096;
    location / {{ proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering {buffering}; }}
  }}
}}
"""
# `filling` bytes of a message; `pause`: each connection waits about so many milliseconds before its next request, 0 = none.
WRK = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
for name, value in string.gmatch("{fields}", "([^:]+):%s*([^\\n]+)\\n") do wrk.headers[name] = value end
wrk.body = '{{"model":"{model}"{stream},"messages":[{{"role":"user","content":"' .. string.rep("x", {filling}) .. '"}}]}}'
local pause = {pause}
if pause > 0 then function delay() return math.random(math.floor(pause / 2), math.floor(pause * 1.5)) end end
"""


def need(program, *programs):
    for each in programs:
        if not shutil.which(each):
            sys.exit(f"{program}: {each} is missing; on Debian: apt-get install nginx-light wrk util-linux npm")
    if (os.cpu_count() or 1) < 2:
        sys.exit(f"{program}: needs two cores")


def built(program, *targets):
    """Paths of programs of a release build, made if need be."""
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", *[pathlib.Path(t).name for t in targets]], cwd=ROOT, check=True, stdout=sys.stderr)
    return [ROOT / "build/release" / target for target in targets]


def on_core(core, *command):
    return ["taskset", "-c", str(core), *map(str, command)]


def nginx(folder, name, upstream, buffering, connections=4096):
    """@return the running service and its port"""
    port = services.free_port()
    own = pathlib.Path(folder, name)
    own.mkdir()
    conf = own / "nginx.conf"
    conf.write_text(NGINX.format(folder=own, port=port, upstream=upstream, buffering=buffering, connections=connections, descriptors=2 * connections))
    service = services.Service(on_core(PROXY_CORE, "nginx", "-c", conf, "-e", own / "error.log"), own, "nginx")
    service.wait_for_port(port)
    return service, port


def wrk_script(folder, name, model="m", filling=1425, stream=False, pause_ms=0, fields=()):
    path = pathlib.Path(folder, f"{name}.lua")
    lines = "".join(f"{field}\\n" for field in ("Authorization: Bearer " + "k" * 40, *fields))
    path.write_text(WRK.format(fields=lines, model=model, filling=filling, stream=',"stream":true' if stream else "", pause=pause_ms))
    return path


def milliseconds(text):
    number, unit = re.match(r"([\d.]+)(us|ms|s|m)$", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}[unit]


def sample(program, service, port, script, path, connections, seconds):
    """One run of the load. Errors end the benchmark: what was measured would be something else."""
    before = service.cpu_seconds()
    load = subprocess.run(on_core(LOAD_CORE, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "15s", "--latency", "-s", script,
                                  f"http://127.0.0.1:{port}{path}"), capture_output=True, text=True, check=True, timeout=seconds + 60)
    user, system = (b - a for a, b in zip(before, service.cpu_seconds()))
    text = load.stdout
    requests, passed = re.search(r"(\d+) requests in ([\d.]+)s", text).groups()
    requests, passed = int(requests), float(passed)
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    errors = re.search(r"Socket errors: (.*)", text)
    if bad or requests == 0 or (errors and not errors.group(1).endswith("timeout 0")):
        sys.exit(f"{program}: the load met errors:\n{text}{service.err()[-2000:]}")
    latency = {p: milliseconds(re.search(rf"^\s+{p}%\s+(\S+)", text, re.M).group(1)) for p in (50, 99)}
    return {"rps": requests / passed, "cpu_us": (user + system) / requests * 1e6, "user_us": user / requests * 1e6,
            "busy": (user + system) / passed, "p50": latency[50], "p99": latency[99], "rss": service.memory_mib()}


def per_event(samples, events):
    """What was counted in streams, in events."""
    for s in samples:
        s["rps"] *= events
        s["cpu_us"] /= events
        s["user_us"] /= events


def table(title, unit, per, results):
    """Medians of the samples of each proxy, ours over the others, and what each adds where the upstream itself is beside them."""
    print(f"{title}\n{'':10}{unit + '/s':>12}{'CPU us/' + per:>16}{'user':>8}{'busy':>7}{'p50 ms':>10}{'p99 ms':>10}{'RSS MiB':>9}")
    medians = {}
    for name, samples in results.items():
        m = {key: statistics.median(s[key] for s in samples) for key in samples[0]}
        medians[name] = m
        print(f"{name:10}{m['rps']:12,.0f}{m['cpu_us']:16.1f}{m['user_us']:8.1f}{m['busy']:7.0%}{m['p50']:10.3f}{m['p99']:10.3f}{m['rss']:9.1f}")
    for other in medians:
        if other not in ("ace", "direct") and "ace" in medians:
            print(f"ace over {other}: CPU {medians['ace']['cpu_us'] / medians[other]['cpu_us']:.2f}, throughput {medians['ace']['rps'] / medians[other]['rps']:.2f}")
    for name, m in medians.items():
        if "direct" in medians and name != "direct":
            added = [(m[p] - medians["direct"][p]) * 1e3 for p in ("p50", "p99")]
            print(f"{name} adds p50 {added[0]:,.0f} us, p99 {added[1]:,.0f} us")
    print(flush=True)
