import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before } from "node:test";
import { eventually, failsWith, failure, sameAsNative } from "./drop_in_comparison.ts";
import { native } from "./drop_in_implementations.ts";
import { type Bytes, byteSources, utf8, watched } from "./drop_in_streams.ts";

const pieces = ["first,", "sécond,", "third"];
const text = pieces.join("");
let server: Server;
let origin = "";
/** The server's handler of the next requests. */
let handle: (request: IncomingMessage, response: ServerResponse) => unknown;

before(async () => {
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

function upload(body: ReadableStream, more: RequestInit = {}): Promise<Response> {
  return fetch(`${origin}/`, { method: "POST", body, duplex: "half", ...more } as RequestInit);
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  response.end(Buffer.concat(chunks));
}

async function sendSlowly(_request: IncomingMessage, response: ServerResponse): Promise<void> {
  for (const piece of pieces) {
    response.write(piece);
    await new Promise((passed) => setTimeout(passed, 5));
  }
  response.end();
}

for (const [kind, make] of Object.entries(byteSources)) {
  sameAsNative(`fetch() uploads ${kind}`, async (streams) => {
    handle = echo;
    return await (await upload(make(streams, pieces))).text();
  }, { expected: text });
}

sameAsNative("fetch() uploads a stream in pieces, while the source has not ended", async ({ ReadableStream }) => {
  const seen: string[] = [];
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  handle = async (request, response) => {
    for await (const chunk of request) {
      seen.push(String(chunk));
      start();
    }
    response.end();
  };
  let controller!: ReadableStreamDefaultController<Bytes>;
  const stream = new ReadableStream<Bytes>({ start: (given) => void (controller = given) });
  controller.enqueue(utf8("one"));
  const answered = upload(stream);
  await started;
  const early = seen.join("");
  controller.enqueue(utf8("two"));
  controller.close();
  await (await answered).text();
  return { early, whole: seen.join(""), locked: stream.locked };
});

sameAsNative("fetch() uploads the body of a Request", async (streams) => {
  handle = echo;
  const { stream } = watched(streams, pieces.map(utf8));
  const request = new Request(`${origin}/`, { method: "POST", body: stream, duplex: "half" } as RequestInit);
  const answer = await (await fetch(request)).text();
  return { answer, used: request.bodyUsed };
});

sameAsNative("fetch() uploads several megabytes whole", async (streams) => {
  handle = async (request, response) => {
    let length = 0;
    for await (const chunk of request) length += chunk.length;
    response.end(String(length));
  };
  const chunks = Array.from({ length: 100 }, (_, i) => new Uint8Array(40_000 + i));
  return await (await upload(watched(streams, chunks).stream)).text();
}, { expected: String(100 * 40_000 + 4950) });

sameAsNative("fetch() rejects when the uploaded stream fails", async (streams) => {
  const { promise: over, resolve } = Promise.withResolvers<string>();
  handle = (request) => {
    request.on("error", () => resolve("aborted")).on("end", () => resolve("ended")).resume();
  };
  const { stream } = watched(streams, [utf8("begun")], { delay: 10, failure: new RangeError("source broke") });
  const failed = await failure(() => upload(stream));
  return { failed: failed !== "nothing", server: await eventually(over) };
});

sameAsNative("aborting fetch() cancels the uploaded stream", async (streams) => {
  const abort = new AbortController();
  const reason = new RangeError("no more");
  handle = (request) => void request.once("data", () => abort.abort(reason)).on("error", () => {});
  const endless = Array(1000).fill(utf8("more"));
  const { stream, cancelled } = watched(streams, endless, { delay: 2 });
  const failed = await failsWith(reason, () => upload(stream, { signal: abort.signal }));
  return { failed, cancelled: await eventually(cancelled.then((given) => given === reason), 1000) };
});

sameAsNative("a chunk that is no bytes is refused by an upload as natively", async (streams) => {
  handle = (request, response) => void echo(request, response).catch(() => {});
  const answers: string[] = [];
  for (const chunk of ["string", 5, new ArrayBuffer(2)]) {
    const { stream } = watched(streams, [utf8("a"), chunk as unknown as Bytes]);
    const answer = upload(stream).then((response) => response.text(), () => "refused");
    answers.push(await eventually(answer.catch(() => "broken")));
  }
  return answers;
});

sameAsNative("a downloaded body is piped into a writable", async (streams) => {
  handle = sendSlowly;
  let arrived = "";
  const decoder = new TextDecoder();
  const sink = { write: (chunk: Bytes): void => void (arrived += decoder.decode(chunk, { stream: true })) };
  await (await fetch(origin)).body!.pipeTo(new streams.WritableStream(sink));
  return arrived;
}, { expected: text });

sameAsNative("a downloaded body is piped through a transform into a new Response", async (streams) => {
  handle = sendSlowly;
  const doubled = new streams.TransformStream<Bytes, Bytes>({
    transform(chunk, controller): void {
      controller.enqueue(chunk.map((byte) => byte === 44 ? 59 : byte));
    },
  });
  return await new Response((await fetch(origin)).body!.pipeThrough(doubled)).text();
}, { expected: text.replaceAll(",", ";") });

sameAsNative("a downloaded body is uploaded again through a transform", async (streams) => {
  handle = (request, response) => void (request.method === "POST" ? echo : sendSlowly)(request, response);
  const download = (await fetch(origin)).body!;
  return await (await upload(download.pipeThrough(new streams.TransformStream()))).text();
}, { expected: text });

sameAsNative("a connection that breaks during a download aborts the writable", async (streams) => {
  handle = (_request, response) => {
    response.write("begun");
    setTimeout(() => response.destroy(), 20);
  };
  const { promise: aborted, resolve } = Promise.withResolvers<string>();
  const sink = new streams.WritableStream({ abort: (reason) => resolve(reason.name) });
  const failed = await failure(async () => (await fetch(origin)).body!.pipeTo(sink));
  return { failed, aborted: await eventually(aborted) };
});

sameAsNative("a writable that fails ends the download", async (streams) => {
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  handle = (_request, response) => {
    const timer = setInterval(() => response.write("more"), 2);
    response.on("close", () => {
      clearInterval(timer);
      resolve("closed");
    });
  };
  const reason = new RangeError("sink broke");
  const write = (): never => {
    throw reason;
  };
  const failed = await failsWith(reason, async () => {
    await (await fetch(origin)).body!.pipeTo(new streams.WritableStream({ write }));
  });
  return { failed, server: await eventually(closed) };
}, { expected: { failed: true, server: "closed" } });

sameAsNative("new Response() of a downloaded body and of a native one read alike", async (streams) => {
  handle = sendSlowly;
  const [left, right] = (await fetch(origin)).body!.pipeThrough(new streams.TransformStream<Bytes, Bytes>()).tee();
  const own = watched(native, pieces.map(utf8)).stream;
  return await Promise.all([left, right, own].map((stream) => new Response(stream).text()));
}, { expected: [text, text, text] });
