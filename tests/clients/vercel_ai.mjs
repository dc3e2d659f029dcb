// npm ai with @ai-sdk/openai and @ai-sdk/anthropic: their schemas are strict, so what is missing in an answer or too much shows.
import assert from "node:assert/strict";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, embedMany, generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { CLAUDE, MODEL, collect, refusal } from "./scenario.mjs";

const openai = (at) => createOpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key });
const apis = {
  chat: (at) => openai(at).chat(MODEL),
  responses: (at) => openai(at).responses(MODEL),
  messages: (at) => createAnthropic({ baseURL: `${at.url}/v1`, apiKey: at.key })(CLAUDE),
};
const prompt = "What is merit order? Ünïcode 🌍";
const weather = tool({
  description: "of a place",
  inputSchema: z.object({ place: z.string(), days: z.number().int() }),
  execute: async ({ place }) => `sunny in ${place}`,
});

const of_each_api = Object.entries(apis).flatMap(([api, model]) => [
  {
    name: `generateText over ${api}`,
    async run(at) {
      const { text, usage, finishReason, warnings } = await generateText({ model: model(at), prompt, maxOutputTokens: 64, maxRetries: 0 });
      assert.ok(text.includes("merit order"));
      assert.equal(usage.outputTokens, 16);
      return { text, usage, finishReason, warnings };
    },
  },
  {
    name: `streamText over ${api}`,
    async run(at) {
      const result = streamText({ model: model(at), prompt, maxOutputTokens: 64, maxRetries: 0, onError: () => {} });
      const parts = await collect(result.fullStream);
      assert.deepEqual(parts.filter((p) => p.type === "error"), []);
      assert.ok((await result.text).includes("merit order"));
      assert.equal((await result.usage).outputTokens, 16);
      return { text: await result.text, usage: await result.usage, types: parts.map((p) => p.type) };
    },
  },
  {
    name: `a tool is called and the answer follows, over ${api}`,
    async run(at) {
      const { text, steps } = await generateText({ model: model(at), prompt, tools: { weather }, stopWhen: stepCountIs(3), maxRetries: 0 });
      assert.equal(steps.length, 2);
      assert.equal(steps[0].toolResults[0].output, "sunny in merit order");
      return { text, calls: steps[0].toolCalls.map((c) => c.input) };
    },
  },
  {
    name: `a tool is called in a stream, over ${api}`,
    async run(at) {
      const result = streamText({ model: model(at), prompt, tools: { weather }, stopWhen: stepCountIs(3), maxRetries: 0, onError: () => {} });
      await result.consumeStream();
      const steps = await result.steps;
      assert.equal(steps.length, 2);
      assert.equal(steps[0].toolResults[0].output, "sunny in merit order");
      return result.text;
    },
  },
  {
    name: `a stream that the client leaves ends upstream, over ${api}`,
    script: { tokens: 500, tpot: "20ms" },
    async run(at) {
      const abort = new AbortController();
      const result = streamText({ model: model(at), prompt, maxOutputTokens: 500, abortSignal: abort.signal, maxRetries: 0, onError: () => {} });
      let deltas = 0;
      for await (const part of result.fullStream) if (part.type === "text-delta" && ++deltas === 4) abort.abort();
      const request = await at.provider.left();
      assert.ok(request.tokens_sent < 250, `${request.tokens_sent} tokens were sent`);
    },
  },
  {
    name: `a 429 is retried when it says, over ${api}`,
    script: { faults: [{ do: "status", at: [1], status: 429, retry_after_ms: "120" }] },
    differs: true,
    async run(at) {
      const { text } = await generateText({ model: model(at), prompt, maxRetries: 2 });
      assert.ok(text);
      assert.equal((await at.provider.seen()).length, 2);
    },
  },
  {
    name: `a wrong key over ${api}`,
    differs: true,
    async run(at) {
      if (!at.through_ace) return;
      const error = await refusal(generateText({ model: model({ ...at, key: "ace_sk_no" }), prompt, maxRetries: 0 }), APICallError);
      assert.equal(error.statusCode, 401);
      assert.equal(error.isRetryable, false);
    },
  },
]);

export default [
  ...of_each_api,
  ...["chat", "responses"].map((api) => ({
    name: `generateObject over ${api}`,
    async run(at) {
      const schema = z.object({ title: z.string(), pages: z.number().int().min(1).max(999) });
      const { object } = await generateObject({ model: apis[api](at), prompt, schema, maxRetries: 0 });
      assert.deepEqual(object, { title: "merit order", pages: 1 });
      return object;
    },
  })),
  {
    name: "embedMany",
    async run(at) {
      const { embeddings, usage } = await embedMany({ model: openai(at).embedding(MODEL), values: ["one", "two"], maxRetries: 0 });
      assert.equal(embeddings.length, 2);
      return { embeddings, usage };
    },
  },
];
