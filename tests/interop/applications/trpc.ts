import { load } from "./packages.ts";
import { answerOf, type Application, settled, turns } from "./recorded.ts";
import { pause } from "../../support/waits.ts";

const { initTRPC, sse, tracked, TRPCError } = await load("@trpc/server");
const { fetchRequestHandler } = await load("@trpc/server/adapters/fetch");
const client = await load("@trpc/client");
const { z } = await load("zod");

const notes: string[] = [];

const t = initTRPC.create({ sse: { ping: { enabled: false } } });
const router = t.router({
  greeting: t.procedure.input(z.string()).query(({ input }: { input: string }) => `Hello ${input}`),
  late: t.procedure.input(z.number()).query(async ({ input }: { input: number }) => {
    await pause(input);
    return `after ${input}`;
  }),
  promises: t.procedure.query(() => ({
    now: 1,
    later: pause(5).then(() => 2),
    never: Promise.reject(new Error("no")),
  })),
  numbers: t.procedure.query(async function* () {
    try {
      for (let i = 0; i < 4; i++) {
        yield i;
        await pause(1);
      }
    } finally {
      notes.push("numbers are over");
    }
  }),
  failing: t.procedure.query(() => {
    throw new TRPCError({ code: "FORBIDDEN", message: "not yours" });
  }),
  events: t.procedure.subscription(async function* () {
    for (let i = 0; i < 3; i++) {
      yield tracked?.(String(i), { i }) ?? sse({ id: String(i), data: { i } });
      await pause(1);
    }
  }),
  endless: t.procedure.subscription(async function* () {
    try {
      for (let i = 0;; i++) {
        yield i;
        await pause(1);
      }
    } finally {
      notes.push("the endless one is over");
    }
  }),
  upload: t.procedure.input(z.any()).mutation(({ input }: { input: unknown }) => ({
    got: input instanceof FormData ? [...input] : input,
  })),
});

const handle = (req: Request): Promise<Response> =>
  fetchRequestHandler({ endpoint: "/trpc", req, router, createContext: () => ({}) });

/** A client that asks the handler without a network. */
// deno-lint-ignore no-explicit-any -- tRPC is not installed
function asking(link: string): any {
  const ask = (url: string, init: RequestInit): Promise<Response> => handle(new Request(url, init));
  return client.createTRPCClient({ links: [client[link]({ url: "http://localhost/trpc", fetch: ask })] });
}

const ask = (path: string, init?: RequestInit): Promise<Response> =>
  handle(new Request(`http://localhost/trpc/${path}`, init));

/** Removes the stack that comes with an error of the server. */
const withoutStacks = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/\\*"stack\\*":\\*".*?[^\\]\\*"(?=[,}])/g, '\\"stack\\":0'));

async function all(iterable: AsyncIterable<unknown>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of iterable) values.push(value);
  return values;
}

export const scenarios: Application["scenarios"] = {
  "a query": async () => await answerOf(await ask(`greeting?input=${encodeURIComponent('"you"')}`)),
  "an error": async () => withoutStacks(await answerOf(await ask("failing"))),
  "httpBatchLink": async () => {
    const api = asking("httpBatchLink");
    return await Promise.all([api.greeting.query("a"), api.greeting.query("b"), settled(api.failing.query())]);
  },
  "httpBatchStreamLink: answers come as they are ready": async () => {
    const api = asking("httpBatchStreamLink");
    const order: string[] = [];
    const noted = async (promise: Promise<string>): Promise<void> => void order.push(await promise);
    await Promise.all([noted(api.late.query(60)), noted(api.late.query(5)), noted(api.greeting.query("you"))]);
    return order;
  },
  "httpBatchStreamLink: promises in an answer": async () => {
    const { now, later, never } = await asking("httpBatchStreamLink").promises.query();
    return [now, await later, await settled(never)];
  },
  "httpBatchStreamLink: an iterable as an answer": async () => {
    notes.length = 0;
    return [await all(await asking("httpBatchStreamLink").numbers.query()), [...notes]];
  },
  "httpBatchStreamLink: an iterable that is left": async () => {
    notes.length = 0;
    for await (const value of await asking("httpBatchStreamLink").numbers.query()) if (value === 1) break;
    await turns(20);
    return [...notes];
  },
  "httpBatchStreamLink: an error": async () => await settled(asking("httpBatchStreamLink").failing.query()),
  "httpBatchStreamLink: an abort": async () => {
    const abort = new AbortController();
    const asked = settled(asking("httpBatchStreamLink").late.query(100, { signal: abort.signal }));
    setTimeout(() => abort.abort(new Error("enough")), 5);
    return await asked;
  },
  "the response that httpBatchStreamLink reads": async () => {
    const headers = { "trpc-accept": "application/jsonl" };
    const input = encodeURIComponent('{"0":"a","1":"b"}');
    return await answerOf(await ask(`greeting,greeting?batch=1&input=${input}`, { headers }));
  },
  "a subscription over SSE": async () => {
    const { status, headers, body } = await ask("events", { headers: { accept: "text/event-stream" } });
    const text = await new Response(body).text();
    return [status, headers.get("content-type"), text];
  },
  "a subscription over SSE that is left": async () => {
    notes.length = 0;
    const abort = new AbortController();
    const { body } = await ask("endless", { headers: { accept: "text/event-stream" }, signal: abort.signal });
    const reader = body!.getReader();
    for (let i = 0; i < 3; i++) await reader.read();
    await reader.cancel("gone");
    abort.abort();
    await turns(20);
    return [...notes];
  },
  "a form as the input of a mutation": async () => {
    const form = new FormData();
    form.set("name", "value");
    return await answerOf(await ask("upload", { method: "POST", body: form }));
  },
  "a stream as the input of a mutation": async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("{}"));
        controller.close();
      },
    });
    const headers = { "content-type": "application/json" };
    return await answerOf(await ask("upload", { method: "POST", headers, body, duplex: "half" } as RequestInit));
  },
};
