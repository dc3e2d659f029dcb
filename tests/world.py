"""A small world for the tests of the whole program: a fleet, a workload, and a way to call the binary.

Prices, names and rates are made up. The fleet has one GPU server that the workload can overload, two APIs, of which one is
rate limited, two SLO classes and a tenant bound to one jurisdiction.
"""
import dataclasses
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

FLEET = """\
version: 1
electricity: {price: "0.12 USD/kWh", pue: 1.3}
providers:
  own: {jurisdictions: [eu]}
  alpha: {jurisdictions: [us], cache: {min_prefix: 1024, block: 128, ttl: 5m}}
  beta: {jurisdictions: [eu]}
models:
  large:
    context: 131072
    aliases: [large-latest]
    baseline: {destination: alpha, price_key: alpha/large, as_of: 2026-11-01, contracted: true}
    architecture: {parameters: 70000000000, layers: 80, hidden: 8192, kv_per_token: 320KiB}
prices:
  - alpha/large: {input: "1.00 USD/Mtok", cached_input: "0.50 USD/Mtok", output: "4.00 USD/Mtok", source: ours, as_of: 2026-11-01}
  - beta/large: {input: "1.30 USD/Mtok", output: "3.50 USD/Mtok", source: ours, as_of: 2026-11-01}
default_slo: chat
slo_classes:
  chat: {ttft: 800ms, tpot: 60ms, target: 0.99}
  agent: {ttft: 3s, target: 95%}
compliance:
  eu-only: {jurisdictions: [eu]}
tenants:
  shop: {teams: [search, ads], compliance: eu-only}
  labs: {slo: agent}
destinations:
  - id: h100
    tier: owned
    provider: own
    models: [large]
    accelerator: h100-80g
    count: 4
    tp: 4
    precision: fp8
    units: 1
    amortization: "0.40 USD/h/gpu"
    measured: {prefill_tokens_per_s: 6000, step_base: 14ms, step_per_sequence: 40us, step_per_kv_token: 0.9ns,
               batch_max: 32, kv_tokens_max: 180000, watts_idle: 400W, watts_busy: 2200W}
  - {id: alpha, tier: payg, provider: alpha, models: [large], price_key: alpha/large, unlimited: true, latency: {ttft_p50: 400ms, ttft_p95: 750ms, tpot_p50: 12ms, tpot_p95: 25ms, error_rate: 0.5%}}
  - {id: beta, tier: payg, provider: beta, models: [large], price_key: beta/large, rpm: 30, latency: {ttft_p50: 300ms, ttft_p95: 600ms, tpot_p50: 12ms, tpot_p95: 25ms}}
"""

# The first name is no tenant of the fleet and must never be printed; a spreadsheet would run the second.
SECRET_NAME = "Jane Doe Ltd"
FORMULA_NAME = "=cmd|' /C calc'!A0"
PROFILE = f"""\
profile: small
source: made up
start: 2026-01-05T00:00:00Z
length: 100m
rate: 1.2
defaults:
  model: large
  arrivals: {{family: gamma, cv: 2}}
  episodes: {{per_day: 60, length: 10m, factor: 4}}
  prompt: {{quantiles: {{0: 3, 0.5: 900, 1: 7000}}}}
  output: {{quantiles: {{0: 3, 0.5: 90, 1: 900}}}}
  prefix: {{system_blocks: 2, continued: 0.3, think: 30s, sessions: 100}}
tenants:
  - {{name: shop, team: search, share: 2}}
  - {{name: labs, share: 1}}
  - {{name: "{SECRET_NAME}", share: 0.1}}
  - {{name: "{FORMULA_NAME}", share: 0.05}}
"""
SALT = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"


@dataclasses.dataclass
class Ran:
    code: int
    out: bytes
    err: str

    @property
    def text(self):
        return self.out.decode("utf-8")


class World:
    """A temporary folder with the fleet, the profile and a salt file, and the binary to run in it."""

    def __init__(self, ace):
        self.ace = str(pathlib.Path(ace).resolve())
        self.folder_ = tempfile.TemporaryDirectory(prefix="ace_test_")
        self.folder = pathlib.Path(self.folder_.name)
        self.write("fleet.yaml", FLEET)
        self.write("profile.yaml", PROFILE)
        self.write("salt", SALT)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def read(self, name):
        return (self.folder / name).read_bytes()

    def run(self, *arguments, stdin=b"", timeout=60, memory_max=None, env=None):
        """Runs ace in the folder. A memory limit is one of address space, so it is generous."""

        def limit():
            if memory_max is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory_max, memory_max))

        done = subprocess.run(
            [self.ace, *map(str, arguments)],
            cwd=self.folder,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=timeout,
            env={**os.environ, **(env or {})},
            preexec_fn=limit,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))

    def generate(self, name="trace.csv", *arguments):
        made = self.run("trace", "generate", "--profile", "profile.yaml", "--seed", "1", "--out", name, *arguments)
        if made.code != 0:
            sys.exit(f"no trace could be generated: {made.err}")
        return self.folder / name

    def close(self):
        self.folder_.cleanup()
