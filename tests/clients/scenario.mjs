// What the clients' tests share: the provider's script and memory, and one way to run each scenario.
//
// A scenario is { name, script, run, differs }. `run` uses a client and returns what it got, in plain values. It is run against
// the provider itself and through ACE; what comes back must be equal, but for what `steady` leaves out. `differs: true` is for
// scenarios whose point is what ACE does of its own; their assertions are in `run`.
import assert from "node:assert/strict";

/// What is served: the first where the provider speaks OpenAI's API, the second where it speaks Anthropic's.
export const MODEL = "large";
export const CLAUDE = "claude-large";

/// The simulated provider's own side: docs/SIMULATED_PROVIDER.md.
export class Provider {
  constructor(url) {
    this.url = url;
  }
  async follow(script) {
    const done = await fetch(`${this.url}/simulated/script`, { method: "PUT", body: JSON.stringify(script) });
    assert.equal(done.status, 200, await done.text());
  }
  async seen() {
    return (await fetch(`${this.url}/simulated/requests`)).json();
  }
  /// What it has seen once that holds, which must come about within 5 s.
  async until(holds) {
    const deadline = Date.now() + 5000;
    for (;;) {
      const seen = await this.seen();
      if (holds(seen)) return seen;
      assert.ok(Date.now() < deadline, `the provider has seen ${JSON.stringify(seen.map((r) => [r.target, r.status, r.outcome]))}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  /// Its one request ended because the client left.
  async left() {
    const [request, ...others] = await this.until((seen) => seen.length > 0 && seen.at(-1).outcome !== "going");
    assert.equal(request.outcome, "gone");
    assert.deepEqual(others, []);
    return request;
  }
}

/// Without what no two requests have in common: times, and ids that a server or the client's library makes up; and without a usage that
/// is null, which every chunk has if it is asked for at the end, as ACE always does.
export function steady(value) {
  const text = JSON.stringify(value, (key, inside) =>
    (key === "usage" && inside === null) || ["created", "created_at", "_request_id", "request_id", "timestamp", "headers", "date"].includes(key) ? undefined : inside,
  );
  return text === undefined ? undefined : JSON.parse(text);
}

/// The error that this ends in; it must be of that class and status.
export async function refusal(promise, type, status) {
  const error = await promise.then(
    (value) => assert.fail(`expected ${type.name}, got ${JSON.stringify(value)}`),
    (failed) => failed,
  );
  assert.ok(error instanceof type, `expected ${type.name}, got ${error.constructor.name}: ${error.message}`);
  if (status !== undefined) assert.equal(error.status, status);
  return error;
}

export async function collect(iterable) {
  const all = [];
  for await (const one of iterable) all.push(one);
  return all;
}

const within = (ms, name, promise) => {
  let timer;
  const late = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error(`${name}: no end within ${ms} ms`)), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/// @param sides  {direct: {url, key}, ace: {url, key}}; without `ace` the provider alone answers
/// @return how many failed
export async function run_all(suite, scenarios, provider, sides) {
  let failed = 0;
  for (const scenario of scenarios) {
    const got = {};
    try {
      for (const [side, at] of Object.entries(sides)) {
        await provider.follow({ models: [CLAUDE, MODEL], ...scenario.script });
        const context = { ...at, side, through_ace: side === "ace", provider };
        got[side] = steady(await within(20_000, `${scenario.name} (${side})`, scenario.run(context)));
      }
      if (sides.ace && !scenario.differs) assert.deepEqual(got.ace, got.direct, "ACE's answer is not the provider's");
      console.log(`PASS ${suite}: ${scenario.name}`);
    } catch (error) {
      ++failed;
      console.log(`FAIL ${suite}: ${scenario.name}\n${error.stack ?? error}`);
    }
  }
  return failed;
}
