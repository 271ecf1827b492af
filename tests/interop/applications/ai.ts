import { load } from "./packages.ts";
import { answerOf, type Application, read, settled, turns } from "./recorded.ts";

const ai = await load("ai");
const { MockLanguageModelV4 } = await load("ai/test");
const { z } = await load("zod");

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};
const finish = { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage };

type Part = Readonly<Record<string, unknown>>;

const text = (...deltas: string[]): Part[] => [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  ...deltas.map((delta) => ({ type: "text-delta", id: "1", delta })),
  { type: "text-end", id: "1" },
  finish,
];

const notes: string[] = [];

/** Returns a model that answers each call with the next of the parts given. */
function model(...calls: (readonly Part[])[]): unknown {
  return new MockLanguageModelV4({
    doStream: () => {
      const parts = [...calls.shift() ?? []];
      const stream = new ReadableStream<Part>({
        pull(controller) {
          const part = parts.shift();
          if (part === undefined) controller.close();
          else if (part.type === "fault") controller.error(new Error("the model is gone"));
          else controller.enqueue(part);
        },
        cancel: (reason) => void notes.push(`cancelled: ${reason}`),
      });
      return Promise.resolve({ stream });
    },
  });
}

const words = text("Hello", ", ", "wor", "ld! How ", "are you", " today?");

// deno-lint-ignore no-explicit-any -- the SDK is not installed
function streamed(options: object = {}, ...calls: (readonly Part[])[]): any {
  notes.length = 0;
  return ai.streamText({
    model: model(...(calls.length > 0 ? calls : [words])),
    prompt: "Hello",
    onError: ({ error }: { error: Error }) => void notes.push(`onError: ${error.message}`),
    onAbort: () => void notes.push("onAbort"),
    _internal: { generateId: () => "id", now: () => 0 },
    ...options,
  });
}

/** Parts without what differs each time. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, member) => {
    if (/timestamp|responseTime|performance|Ms$|stack/i.test(key)) return undefined;
    if (/^(id|callId|messageId)$/.test(key)) return "id";
    return member instanceof Error ? member.message : member;
  }));
}

/** The SDK gives ids of its own to messages. */
const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/(\\?"(?:id|messageId|callId)\\?":\\?")[\w-]+/g, "$1id"));

const tool = (): object => ({
  add: ai.tool({
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }: { a: number; b: number }) => a + b,
  }),
});
const toolCall = [
  { type: "stream-start", warnings: [] },
  { type: "tool-input-start", id: "c", toolName: "add" },
  { type: "tool-input-delta", id: "c", delta: '{"a":1,' },
  { type: "tool-input-delta", id: "c", delta: '"b":2}' },
  { type: "tool-input-end", id: "c" },
  { type: "tool-call", toolCallId: "c", toolName: "add", input: '{"a":1,"b":2}' },
  { ...finish, finishReason: { unified: "tool-calls", raw: undefined } },
];

export const scenarios: Application["scenarios"] = {
  "streamText(): the text": () => read(streamed().textStream),
  "streamText(): all parts": async () => plain(await read(streamed().fullStream)),
  "streamText(): the text and all parts, at once": async () => {
    const result = streamed();
    return plain(await Promise.all([read(result.textStream), read(result.fullStream), settled(result.text)]));
  },
  "streamText(): a response of text": async () => await answerOf(streamed().toTextStreamResponse()),
  "streamText(): a response of UI messages": async () =>
    withoutIds(await answerOf(streamed().toUIMessageStreamResponse())),
  "streamText(): a stream of UI messages": async () => plain(await read(streamed().toUIMessageStream())),
  "streamText() of a tool and a second step": async () =>
    plain(await read(streamed({ tools: tool(), stopWhen: ai.stepCountIs(2) }, toolCall, words).toUIMessageStream())),
  "streamText() with smoothStream()": async () =>
    await read(streamed({ experimental_transform: ai.smoothStream({ delayInMs: null }) }).textStream),
  "streamText() with a transform of its own": async () => {
    const transform = () =>
      new TransformStream<Part, Part>({
        transform: (part, to) =>
          to.enqueue(part.type === "text-delta" ? { ...part, text: String(part.text).toUpperCase() } : part),
      });
    return await read(streamed({ experimental_transform: transform }).textStream);
  },
  "streamText() of a model that fails": async () => {
    const result = streamed({}, [...words.slice(0, 4), { type: "fault" }]);
    return [plain(await read(result.fullStream)), await settled(result.text), [...notes]];
  },
  "streamText() aborted": async () => {
    const abort = new AbortController();
    const result = streamed({ abortSignal: abort.signal });
    const reader = result.textStream.getReader();
    const first = await reader.read();
    abort.abort(new Error("enough"));
    const rest: unknown[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest.push(next.value);
    await turns();
    return [first.value, rest.length < 5, notes.includes("onAbort")];
  },
  "streamText() cancelled by its reader": async () => {
    const reader = streamed().textStream.getReader();
    const first = await reader.read();
    await reader.cancel("gone");
    await turns();
    return [first.value, [...notes]];
  },
  "streamText() consumed": async () => {
    const result = streamed();
    await result.consumeStream();
    return [await result.text, await result.finishReason];
  },
  "streamText() of an object": async () => {
    const output = ai.Output.object({ schema: z.object({ content: z.string() }) });
    const result = streamed({ output }, text('{ "con', 'tent": "He', 'llo" }'));
    return [await read(result.partialOutputStream), await settled(result.output)];
  },
  "createUIMessageStream() with a merged stream": async () => {
    const stream = ai.createUIMessageStream({
      // deno-lint-ignore no-explicit-any
      execute: ({ writer }: any) => {
        writer.write({ type: "data-note", data: 1 });
        writer.merge(streamed().toUIMessageStream());
      },
    });
    return withoutIds(await answerOf(ai.createUIMessageStreamResponse({ stream })));
  },
  "createUIMessageStream() that fails": async () => {
    const execute = (): Promise<never> => Promise.reject(new Error("no message"));
    const onError = (error: Error): string => `told: ${error.message}`;
    return await read(ai.createUIMessageStream({ execute, onError }));
  },
  "readUIMessageStream()": async () =>
    plain(await read(ai.readUIMessageStream({ stream: streamed().toUIMessageStream() }))),
  "parseJsonEventStream() of a response": async () => {
    const { parseJsonEventStream } = await load("@ai-sdk/provider-utils");
    const stream = streamed().toUIMessageStreamResponse().body;
    return plain(await read(parseJsonEventStream({ stream, schema: z.any() })));
  },
  "simulateReadableStream()": async () =>
    await read(ai.simulateReadableStream({ chunks: ["a", "b", "c"], initialDelayInMs: 1, chunkDelayInMs: 1 })),
};
