// npm @anthropic-ai/sdk.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { CLAUDE, MODEL, collect, refusal } from "./scenario.mjs";

const client = (at, more = {}) => new Anthropic({ baseURL: at.url, apiKey: at.key, maxRetries: 0, timeout: 15_000, ...more });
const ask = { model: CLAUDE, max_tokens: 64, messages: [{ role: "user", content: "What is merit order? Ünïcode 🌍" }] };
const weather = {
  name: "weather",
  description: "of a place",
  input_schema: { type: "object", properties: { place: { type: "string" }, days: { type: "integer" } }, required: ["place"] },
};

export default [
  {
    name: "messages",
    script: { cached: 0.5 },
    async run(at) {
      const answer = await client(at).messages.create({ ...ask, system: "Be brief.", temperature: 0.5 });
      assert.ok(answer.content[0].text.includes("merit"));
      assert.equal(answer.usage.output_tokens, 16);
      assert.equal(answer.stop_reason, "end_turn");
      assert.ok(answer._request_id, "an answer has a request id");
      return answer;
    },
  },
  {
    name: "messages with a cache mark, thinking and fields of next year go upstream as they were sent",
    async run(at) {
      const body = {
        ...ask, system: [{ type: "text", text: "Long.", cache_control: { type: "ephemeral" } }], metadata: { user_id: "u" }, stop_sequences: ["END"],
        thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2048, a_field_of_next_year: [1.50, null],
      };
      const answer = await client(at).messages.create(body, { headers: { "anthropic-beta": "context-1m-2025-08-07" } });
      const [sent] = await at.provider.seen();
      assert.deepEqual(JSON.parse(sent.body), body);
      const fields = Object.fromEntries(sent.fields.map(([name, value]) => [name.toLowerCase(), value]));
      assert.match(fields["anthropic-version"], /^20\d\d-\d\d-\d\d$/);
      assert.equal(fields["anthropic-beta"], "context-1m-2025-08-07");
      return answer;
    },
  },
  {
    name: "messages.stream",
    async run(at) {
      const seen = [];
      const stream = client(at).messages.stream(ask).on("text", (delta) => seen.push(delta));
      const events = [];
      stream.on("streamEvent", (event) => events.push(event));
      const final = await stream.finalMessage();
      assert.ok(seen.join("").includes("merit order"));
      assert.equal(final.usage.output_tokens, 16);
      return { events, final };
    },
  },
  {
    name: "messages, streamed raw",
    async run(at) {
      const events = await collect(await client(at).messages.create({ ...ask, stream: true }));
      assert.equal(events.at(-1).type, "message_stop");
      return events;
    },
  },
  {
    name: "a tool is called, and the answer follows",
    async run(at) {
      const first = await client(at).messages.create({ ...ask, tools: [weather] });
      assert.equal(first.stop_reason, "tool_use");
      const call = first.content.find((block) => block.type === "tool_use");
      assert.deepEqual(call.input, { place: "merit order", days: 1 });
      const result = { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }] };
      const turns = [...ask.messages, { role: "assistant", content: first.content }, result];
      const second = await client(at).messages.create({ ...ask, tools: [weather], messages: turns });
      assert.ok(second.content[0].text);
      return [first, second];
    },
  },
  {
    name: "a tool is called in a stream",
    async run(at) {
      const final = await client(at).messages.stream({ ...ask, tools: [weather] }).finalMessage();
      assert.deepEqual(final.content[0].input, { place: "merit order", days: 1 });
      return final;
    },
  },
  {
    name: "count_tokens",
    async run(at) {
      const counted = await client(at).messages.countTokens({ model: CLAUDE, messages: ask.messages });
      assert.ok(counted.input_tokens > 0);
      return counted;
    },
  },
  {
    name: "models",
    run: async (at) => (await collect(client(at).models.list())).map((m) => [m.type, m.id]),
  },
  {
    name: "a stream that the client leaves ends upstream",
    script: { tokens: 500, tpot: "20ms" },
    async run(at) {
      const stream = client(at).messages.stream({ ...ask, max_tokens: 500 });
      let deltas = 0;
      stream.on("text", () => ++deltas === 4 && stream.abort());
      await refusal(stream.done(), Anthropic.APIUserAbortError);
      const request = await at.provider.left();
      assert.ok(request.tokens_sent < 250, `${request.tokens_sent} tokens were sent`);
    },
  },
  {
    name: "a request that is aborted while it waits ends upstream",
    script: { ttft: "10s" },
    async run(at) {
      const abort = new AbortController();
      const pending = client(at).messages.create(ask, { signal: abort.signal });
      await at.provider.until((seen) => seen.length === 1);
      abort.abort();
      await refusal(pending, Anthropic.APIUserAbortError);
      await at.provider.left();
    },
  },
  {
    name: "a client's timeout ends the request upstream",
    script: { ttft: "10s" },
    async run(at) {
      await refusal(client(at, { timeout: 300 }).messages.create(ask), Anthropic.APIConnectionTimeoutError);
      await at.provider.left();
    },
  },
  {
    name: "a 529 is retried by whoever comes first, and then answered",
    script: { faults: [{ do: "status", at: [1], status: 529 }] },
    differs: true,
    async run(at) {
      const answer = await client(at, { maxRetries: 2 }).messages.create(ask);
      assert.ok(answer.content[0].text);
      assert.equal((await at.provider.seen()).length, 2);
    },
  },
  {
    name: "a 429 of everybody says when to come again",
    script: { faults: [{ do: "status", status: 429, retry_after: "7" }] },
    differs: true,
    async run(at) {
      const error = await refusal(client(at).messages.create(ask), Anthropic.RateLimitError, 429);
      assert.equal(error.error.error.type, at.through_ace ? "rate_limit_error" : error.error.error.type);
      const seconds = Number(error.headers.get("retry-after"));
      assert.ok(seconds >= 1 && seconds <= 7, `retry-after: ${seconds}`);
      if (at.through_ace) assert.equal(error.headers.get("x-should-retry"), "true");
    },
  },
  {
    name: "a model behind OpenAI's API, called as Anthropic's",
    differs: true,
    async run(at) {
      if (!at.through_ace) return;
      const other = { ...ask, model: MODEL };
      const whole = await client(at).messages.create(other);
      const streamed = await client(at).messages.stream(other).finalMessage();
      for (const answer of [whole, streamed]) {
        assert.ok(answer.content[0].text.includes("merit order"));
        assert.equal(answer.stop_reason, "end_turn");
        assert.equal(answer.usage.output_tokens, 16);
      }
      const called = await client(at).messages.stream({ ...other, tools: [weather] }).finalMessage();
      assert.deepEqual(called.content.find((block) => block.type === "tool_use").input, { place: "merit order", days: 1 });
      assert.ok((await at.provider.seen()).every((r) => r.target === "/v1/chat/completions"));
    },
  },
  {
    name: "a wrong key",
    differs: true,
    async run(at) {
      if (!at.through_ace) return;
      const error = await refusal(client({ ...at, key: "ace_sk_no" }).messages.create(ask), Anthropic.AuthenticationError, 401);
      assert.equal(error.error.error.type, "authentication_error");
      assert.deepEqual(await at.provider.seen(), [], "nothing went upstream");
    },
  },
  {
    name: "a model that nobody serves",
    differs: true,
    async run(at) {
      const error = await refusal(client(at).messages.create({ ...ask, model: "smaller" }), Anthropic.NotFoundError, 404);
      assert.equal(error.error.error.type, "not_found_error");
    },
  },
  {
    name: "a stream that fails in its middle is an error, not an end",
    script: { faults: [{ do: "error_event", event: 3 }] },
    differs: true,
    async run(at) {
      await refusal(client(at, { maxRetries: 2 }).messages.stream(ask).finalMessage(), Anthropic.APIError);
      assert.equal((await at.provider.seen()).length, 1, "never again after a token");
    },
  },
  {
    name: "a stream that is cut is an error, not an end",
    script: { faults: [{ do: "close", place: "after_event", event: 3 }] },
    differs: true,
    async run(at) {
      const error = await client(at).messages.stream(ask).finalMessage().then(() => assert.fail("it ended as if it were whole"), (failed) => failed);
      if (at.through_ace) assert.ok(error instanceof Anthropic.APIError, `${error.constructor.name}: ${error.message}`);
    },
  },
];
