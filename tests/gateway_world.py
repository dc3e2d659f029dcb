"""A gateway to test: simulated providers, a fleet over them, `ace serve`, and its ledger afterwards. Prices are made up."""
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

import services
import spine_events

MODEL, CLAUDE = "large", "claude-large"
PRICE = '{{input: "{0} USD/Mtok", cached_input: "{1} USD/Mtok", output: "{2} USD/Mtok", source: ours, as_of: 2026-11-01}}'


class Place:
    """A destination that is called over HTTP. @param api  openai or anthropic  @param usd  per million tokens in; out costs 4 x"""

    def __init__(self, name, url, api="openai", model=MODEL, usd=1.0, more="", jurisdiction="eu", surfaces=""):
        self.name, self.url, self.api, self.model, self.usd, self.more = name, url, api, model, usd, more
        self.jurisdiction, self.surfaces = jurisdiction, surfaces

    @property
    def key(self):
        """What it is called with: a secret, which must show up nowhere."""
        return f"sk-canary-{self.name}-7f3a9c51e2"

    @property
    def variable(self):
        return f"{self.name.upper()}_KEY"


def fleet_text(places, tenants="", more="", slo="ttft: 5s, tpot: 1s"):
    models = {}
    for place in places:
        models.setdefault(place.model, place)
    lines = ["version: 1", "providers:"]
    for p in places:
        lines.append(f'  {p.name}: {{jurisdictions: [{p.jurisdiction}], api: {p.api}, url: "{p.url}", key: {{env: {p.variable}}}, '
                     f"allow_private: true{f', surfaces: [{p.surfaces}]' if p.surfaces else ''}}}")
    lines.append("models:")
    for model, p in models.items():
        lines.append(f"  {model}: {{context: 131072, capabilities: [image, tools, json_schema, reasoning], "
                     f"baseline: {{destination: {p.name}, price_key: {p.name}/{model}, as_of: 2026-11-01, contracted: true}}}}")
    lines.append("prices:")
    for p in places:
        lines.append(f"  - {p.name}/{p.model}: " + PRICE.format(p.usd, p.usd / 2, p.usd * 4))
    lines += ["default_slo: chat", f"slo_classes: {{chat: {{{slo}, target: 0.99}}}}"]
    if tenants:
        lines += ["tenants:", *(f"  {t}" for t in tenants.splitlines())]
    lines.append("destinations:")
    for p in places:
        extra = f", {p.more}" if p.more else ""
        lines.append(f"  - {{id: {p.name}, tier: payg, provider: {p.name}, models: [{p.model}], price_key: {p.name}/{p.model}, unlimited: true, "
                     f"latency: {{ttft_p50: 100ms, ttft_p95: 300ms, tpot_p50: 5ms, tpot_p95: 10ms}}{extra}}}")
    return "\n".join(lines) + "\n" + more


class Gateway(services.Service):
    """`ace serve` on a free port. @param keys  tenants for whom there is a key each, in `self.keys`; without any nobody needs one"""

    def __init__(self, ace, folder, places, name="gateway", mode="inline", config="", tenants="", fleet_more="", slo="ttft: 5s, tpot: 1s", keys=(), admin=False,
                 threads=1, env=None, preexec_fn=None):
        self.folder, self.ace, self.places = pathlib.Path(folder), ace, places
        self.port = services.free_port()
        self.admin_port = services.free_port() if admin else None
        self.url = f"http://127.0.0.1:{self.port}"
        self.spine = self.folder / f"{name}.spine"
        fleet, conf = self.folder / f"{name}.fleet.yaml", self.folder / f"{name}.yaml"
        fleet.write_text(fleet_text(places, tenants, fleet_more, slo))
        lines = ["version: 1", f"listen: {{port: {self.port}}}", f"threads: {threads}", f"fleet: {fleet.name}", f"spine: {{dir: {self.spine.name}}}", f"mode: {mode}"]
        if admin:
            lines.append(f"admin: {{port: {self.admin_port}}}")
        self.environment = {**{p.variable: p.key for p in places}, **(env or {})}
        self.keys = {tenant: self.run("keys", "new", "--file", f"{name}.keys.yaml", "--tenant", tenant).strip() for tenant in keys}
        if keys:
            lines.append(f"keys: {name}.keys.yaml")
            self.admin_key = self.run("keys", "new", "--file", f"{name}.keys.yaml", "--admin").strip()
        conf.write_text("\n".join(lines) + "\n" + config)
        super().__init__([ace, "serve", "--config", conf], folder, name, env=self.environment, preexec_fn=preexec_fn)
        self.wait_for_port(self.port)

    def run(self, *arguments, code=0):
        """Another command over its spine or fleet."""
        done = subprocess.run([self.ace, *map(str, arguments)], cwd=self.folder, capture_output=True, timeout=60, env={**os.environ, **self.environment}, check=False)
        if code is not None and done.returncode != code:
            raise AssertionError(f"ace {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr.decode()}{done.stdout.decode()[-2000:]}")
        return done.stdout.decode()

    def events(self):
        """What its spine says, as spine_events reads it. It must have ended."""
        return [spine_events.read(json.loads(line)) for line in self.run("spine", "export", self.spine).splitlines()]

    def stories(self):
        """By request: what became of it."""
        return spine_events.stories(self.events())


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="ace_gateway_") as made:
        yield pathlib.Path(made)
