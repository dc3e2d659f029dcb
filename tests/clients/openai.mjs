// npm openai.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { CLAUDE, MODEL, collect, refusal } from "./scenario.mjs";

const client = (at, more = {}) => new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key, maxRetries: 0, timeout: 15_000, ...more });
const messages = [
  { role: "system", content: "You fill the cheapest first." },
  { role: "user", content: "What is merit order? Ünïcode 🌍 \"quoted\" \\ back" },
];
const chat = { model: MODEL, messages };
const weather = {
  name: "weather",
  description: "of a place",
  parameters: { type: "object", properties: { place: { type: "string" }, days: { type: "integer" } }, required: ["place"] },
};
const text_of = (chunks) => chunks.map((c) => c.choices[0]?.delta?.content ?? "").join("");

export default [
  {
    name: "chat",
    async run(at) {
      const answer = await client(at).chat.completions.create(chat);
      assert.ok(answer.choices[0].message.content.includes("merit"));
      assert.equal(answer.usage.completion_tokens, 16);
      assert.ok(answer._request_id, "an answer has a request id");
      return answer;
    },
  },
  {
    name: "chat with every option goes upstream as it was sent",
    async run(at) {
      const options = {
        ...chat, n: 2, seed: 7, temperature: 0.2, top_p: 0.9, stop: ["END"], logit_bias: { 50256: -100 }, user: "u", max_completion_tokens: 5,
        presence_penalty: 0.5, frequency_penalty: -0.5, metadata: { a: "b" }, reasoning_effort: "low", a_field_of_next_year: { deep: [1, 1.50, null] },
      };
      const answer = await client(at).chat.completions.create(options);
      assert.equal(answer.choices.length, 2);
      assert.equal(answer.choices[0].finish_reason, "length");
      const [sent] = await at.provider.seen();
      assert.deepEqual(JSON.parse(sent.body), options);
      return answer;
    },
  },
  {
    name: "an image in a message",
    async run(at) {
      const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
      const content = [{ type: "text", text: "What is this?" }, image];
      return client(at).chat.completions.create({ model: MODEL, messages: [{ role: "user", content }] });
    },
  },
  {
    name: "chat stream without usage has no chunk of usage",
    async run(at) {
      const chunks = await collect(await client(at).chat.completions.create({ ...chat, stream: true }));
      assert.ok(text_of(chunks).includes("merit order"));
      assert.ok(chunks.every((c) => c.choices.length === 1 && c.usage == null));
      return chunks;
    },
  },
  {
    name: "chat stream with usage",
    script: { cached: 0.5 },
    async run(at) {
      const chunks = await collect(await client(at).chat.completions.create({ ...chat, stream: true, stream_options: { include_usage: true } }));
      assert.equal(chunks.at(-1).usage.completion_tokens, 16);
      return chunks;
    },
  },
  {
    name: "chat stream comes token by token",
    script: { tokens: 8, tpot: "60ms" },
    async run(at) {
      const times = [];
      for await (const chunk of await client(at).chat.completions.create({ ...chat, stream: true }))
        if (chunk.choices[0]?.delta?.content) times.push(Date.now());
      assert.equal(times.length, 8);
      assert.ok(times.at(-1) - times[0] > 200, `8 tokens at 60 ms came within ${times.at(-1) - times[0]} ms`);
    },
  },
  {
    name: "a tool is called, and the answer follows",
    async run(at) {
      const called = [];
      const tool = { type: "function", function: { ...weather, parse: JSON.parse, function: (a) => (called.push(a), "sunny") } };
      const runner = client(at).chat.completions.runTools({ model: MODEL, messages, tools: [tool] });
      const content = await runner.finalContent();
      assert.deepEqual(called, [{ place: "merit order", days: 1 }]);
      return { content, messages: runner.messages };
    },
  },
  {
    name: "a tool is called in a stream",
    async run(at) {
      const called = [];
      const tool = { type: "function", function: { ...weather, parse: JSON.parse, function: (a) => (called.push(a), "sunny") } };
      const runner = client(at).chat.completions.runTools({ model: MODEL, messages, tools: [tool], stream: true });
      const content = await runner.finalContent();
      assert.deepEqual(called, [{ place: "merit order", days: 1 }]);
      return content;
    },
  },
  {
    name: "an answer of a given shape",
    async run(at) {
      const shape = zodResponseFormat(z.object({ title: z.string(), pages: z.number().int().min(1).max(999) }), "book");
      const answer = await client(at).chat.completions.parse({ ...chat, response_format: shape });
      assert.deepEqual(answer.choices[0].message.parsed, { title: "merit order", pages: 1 });
      return answer;
    },
  },
  { name: "completions", run: (at) => client(at).completions.create({ model: MODEL, prompt: "Once", max_tokens: 4 }) },
  {
    name: "completions stream",
    run: async (at) => collect(await client(at).completions.create({ model: MODEL, prompt: "Once", max_tokens: 4, stream: true })),
  },
  {
    name: "responses",
    async run(at) {
      const answer = await client(at).responses.create({ model: MODEL, input: "What is merit order?", instructions: "Be brief." });
      assert.ok(answer.output_text.includes("merit"));
      assert.equal(answer.usage.output_tokens, 16);
      return answer;
    },
  },
  {
    name: "responses stream",
    async run(at) {
      const events = await collect(await client(at).responses.create({ model: MODEL, input: "What?", stream: true }));
      assert.equal(events.at(-1).type, "response.completed");
      assert.ok(events.some((e) => e.type === "response.output_text.delta"));
      return events;
    },
  },
  {
    name: "responses with a tool",
    async run(at) {
      const ask = { model: MODEL, tools: [{ type: "function", strict: false, ...weather }] };
      const input = [{ role: "user", content: "Weather?" }];
      const first = await client(at).responses.create({ ...ask, input });
      const call = first.output.find((o) => o.type === "function_call");
      assert.deepEqual(JSON.parse(call.arguments), { place: "merit order", days: 1 });
      const output = { type: "function_call_output", call_id: call.call_id, output: "sunny" };
      const second = await client(at).responses.create({ ...ask, input: [...input, call, output] });
      assert.ok(second.output_text);
      return [first, second];
    },
  },
  {
    name: "responses of a given shape, streamed",
    async run(at) {
      const format = zodTextFormat(z.object({ title: z.string() }), "book");
      const stream = client(at).responses.stream({ model: MODEL, input: "A book", text: { format } });
      const final = await stream.finalResponse();
      assert.deepEqual(final.output_parsed, { title: "merit order" });
      return final;
    },
  },
  {
    name: "embeddings, in base64 as the client asks by itself and in numbers",
    async run(at) {
      const packed = await client(at).embeddings.create({ model: MODEL, input: ["one", "two"], dimensions: 16 });
      const plain = await client(at).embeddings.create({ model: MODEL, input: ["one", "two"], dimensions: 16, encoding_format: "float" });
      assert.equal(packed.data.length, 2);
      packed.data.forEach((d, i) => d.embedding.forEach((x, j) => assert.ok(Math.abs(x - plain.data[i].embedding[j]) < 1e-6)));
      return [packed, plain];
    },
  },
  {
    name: "models",
    async run(at) {
      const models = await collect(client(at).models.list());
      assert.ok(models.every((m) => m.object === "model"));
      return models.map((m) => m.id);
    },
  },
  {
    name: "headers of an answer: a request id, and nothing that is the provider's alone",
    script: { fields: { "Set-Cookie": "session=1", "OpenAI-Organization": "org-of-the-operator", Server: "simulated" } },
    differs: true,
    async run(at) {
      const { response, request_id } = await client(at).chat.completions.create(chat).withResponse();
      assert.ok(request_id);
      if (!at.through_ace) return;
      for (const name of ["set-cookie", "openai-organization", "server"]) assert.equal(response.headers.get(name), null, name);
      assert.match(request_id, /^req_[0-9a-z]{26}$/);
    },
  },
  {
    name: "a stream that the client leaves ends upstream",
    script: { tokens: 500, tpot: "20ms" },
    async run(at) {
      const stream = await client(at).chat.completions.create({ ...chat, stream: true });
      let chunks = 0;
      for await (const _ of stream) if (++chunks === 4) break;
      const request = await at.provider.left();
      assert.ok(request.tokens_sent < 250, `${request.tokens_sent} tokens were sent`);
    },
  },
  {
    name: "a request that is aborted while it waits ends upstream",
    script: { ttft: "10s" },
    async run(at) {
      const abort = new AbortController();
      const pending = client(at).chat.completions.create(chat, { signal: abort.signal });
      await at.provider.until((seen) => seen.length === 1);
      abort.abort();
      await refusal(pending, OpenAI.APIUserAbortError);
      assert.equal((await at.provider.left()).tokens_sent, 0);
    },
  },
  {
    name: "a client's timeout ends the request upstream",
    script: { ttft: "10s" },
    async run(at) {
      await refusal(client(at, { timeout: 300 }).chat.completions.create(chat), OpenAI.APIConnectionTimeoutError);
      await at.provider.left();
    },
  },
  {
    name: "a 429 is retried when it says, and then answered",
    script: { faults: [{ do: "status", at: [1], status: 429, retry_after_ms: "120" }] },
    differs: true,
    async run(at) {
      const began = Date.now();
      const answer = await client(at, { maxRetries: 2 }).chat.completions.create(chat);
      assert.ok(answer.choices[0].message.content);
      assert.ok(Date.now() - began >= 110, "nobody waited");
      assert.equal((await at.provider.seen()).length, 2);
    },
  },
  {
    name: "a 429 of everybody says when to come again",
    script: { faults: [{ do: "status", status: 429, retry_after: "7", retry_after_ms: "7000" }] },
    differs: true,
    async run(at) {
      const error = await refusal(client(at).chat.completions.create(chat), OpenAI.RateLimitError, 429);
      const seconds = Number(error.headers.get("retry-after")), ms = Number(error.headers.get("retry-after-ms"));
      assert.ok(seconds >= 1 && seconds <= 7, `retry-after: ${seconds}`);
      assert.ok(ms > 0 && ms <= 7000, `retry-after-ms: ${ms}`);
      if (at.through_ace) assert.equal(error.headers.get("x-should-retry"), "true");
    },
  },
  {
    name: "a 500 is retried by whoever comes first, and then answered",
    script: { faults: [{ do: "status", at: [1], status: 500 }] },
    differs: true,
    async run(at) {
      const answer = await client(at, { maxRetries: 2 }).chat.completions.create(chat);
      assert.ok(answer.choices[0].message.content);
      assert.equal((await at.provider.seen()).length, 2);
    },
  },
  {
    name: "a model behind Anthropic's API, called as OpenAI's",
    differs: true,
    async run(at) {
      if (!at.through_ace) return;
      const other = { model: CLAUDE, messages: [{ role: "user", content: "What?" }] };
      const whole = await client(at).chat.completions.create(other);
      assert.ok(whole.choices[0].message.content.includes("merit order"));
      assert.equal(whole.usage.completion_tokens, 16);
      const chunks = await collect(await client(at).chat.completions.create({ ...other, stream: true }));
      assert.ok(text_of(chunks).includes("merit order"));
      const called = await client(at).chat.completions.create({ ...other, tools: [{ type: "function", function: weather }] });
      assert.deepEqual(JSON.parse(called.choices[0].message.tool_calls[0].function.arguments), { place: "merit order", days: 1 });
      assert.ok((await at.provider.seen()).every((r) => r.target === "/v1/messages"));
    },
  },
  {
    name: "a field that has no counterpart behind Anthropic's API is named",
    differs: true,
    async run(at) {
      if (!at.through_ace) return;
      const other = { model: CLAUDE, messages: [{ role: "user", content: "What?" }], logit_bias: { 1: 1 } };
      const error = await refusal(client(at).chat.completions.create(other), OpenAI.BadRequestError, 400);
      assert.equal(error.code, "untranslatable");
      assert.ok(error.message.includes("logit_bias"), error.message);
      assert.deepEqual(await at.provider.seen(), []);
    },
  },
  {
    name: "a wrong key",
    differs: true,
    async run(at) {
      if (!at.through_ace) return;
      const error = await refusal(client({ ...at, key: "ace_sk_no" }).chat.completions.create(chat), OpenAI.AuthenticationError, 401);
      assert.equal(error.type, "authentication_error");
      assert.deepEqual(await at.provider.seen(), [], "nothing went upstream");
    },
  },
  {
    name: "a model that nobody serves",
    differs: true,
    async run(at) {
      const error = await refusal(client(at).chat.completions.create({ ...chat, model: "smaller" }), OpenAI.NotFoundError, 404);
      assert.equal(error.code, "model_not_found");
    },
  },
  {
    name: "what the provider finds wrong with a request",
    script: { faults: [{ do: "status", status: 400, text: '{"error":{"message":"temperature is too high","type":"invalid_request_error","param":"temperature","code":"bad_value"}}' }] },
    differs: true,
    async run(at) {
      const error = await refusal(client(at, { maxRetries: 2 }).chat.completions.create(chat), OpenAI.BadRequestError, 400);
      assert.equal((await at.provider.seen()).length, 1, "a mistake of the client is not tried again");
      assert.ok(error.message.includes("temperature"), error.message);
    },
  },
  {
    name: "a stream that fails in its middle is an error, not an end",
    script: { faults: [{ do: "error_event", event: 3 }] },
    differs: true,
    async run(at) {
      const stream = await client(at).chat.completions.create({ ...chat, stream: true });
      await refusal(collect(stream), OpenAI.APIError);
      assert.equal((await at.provider.seen()).length, 1, "never again after a token");
    },
  },
  {
    name: "a stream that is cut is an error, not an end",
    script: { faults: [{ do: "close", place: "after_event", event: 3 }] },
    differs: true,
    async run(at) {
      const stream = await client(at).chat.completions.create({ ...chat, stream: true });
      const error = await collect(stream).then(() => assert.fail("it ended as if it were whole"), (failed) => failed);
      if (at.through_ace) assert.ok(error instanceof OpenAI.APIError, `${error.constructor.name}: ${error.message}`);
      assert.equal((await at.provider.seen()).length, 1, "never again after a token");
    },
  },
];
