import { get } from "node:http";
import { connect } from "node:net";
import { eventually, failure, quiet, sameAsNative } from "./drop_in_comparison.ts";
import { native } from "./drop_in_implementations.ts";
import { type Respond, type ServerKind, servers } from "./drop_in_servers.ts";
import { type Bytes, byteSources, utf8, watched } from "./drop_in_streams.ts";

const pieces = ["first,", "sécond,", "third"];
const text = pieces.join("");

async function serving<T>({ start }: ServerKind, respond: Respond, ask: (url: string) => Promise<T>): Promise<T> {
  const server = await start(respond);
  try {
    return await ask(server.url);
  } finally {
    await server.close();
  }
}

/** Sends a request, and disconnects after the first chunk. */
function hangUp(url: string): Promise<void> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.once("data", () => {
        request.destroy();
        resolve();
      });
      response.on("error", () => {});
    });
    request.on("error", () => {});
  });
}

/** Sends a request, and reads nothing for a time. */
async function askAndWait(url: string, milliseconds: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {}).pause();
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await quiet(milliseconds);
  socket.destroy();
}

for (const [name, server] of Object.entries(servers)) {
  const { skip } = server;

  sameAsNative(`${name} sends every kind of stream whole`, async (streams) => {
    const bodies: Record<string, string> = {};
    for (const [kind, make] of Object.entries(byteSources)) {
      bodies[kind] = await serving(server, () => make(streams, pieces), async (url) => (await fetch(url)).text());
    }
    return bodies;
  }, { skip, expected: Object.fromEntries(Object.keys(byteSources).map((kind) => [kind, text])) });

  sameAsNative(`${name} sends chunks before the source has ended`, async ({ ReadableStream }) => {
    let controller!: ReadableStreamDefaultController<Bytes>;
    const body = new ReadableStream<Bytes>({ start: (given) => void (controller = given) });
    return await serving(server, () => body, async (url) => {
      controller.enqueue(utf8("early"));
      const reader = (await fetch(url)).body!.getReader();
      const first = new TextDecoder().decode((await reader.read()).value);
      controller.enqueue(utf8("late"));
      controller.close();
      const second = new TextDecoder().decode((await reader.read()).value);
      return { first, second, end: (await reader.read()).done, locked: body.locked };
    });
  }, { skip });

  sameAsNative(`${name} sends megabytes whole`, async (streams) => {
    const chunks = Array.from({ length: 200 }, (_, i) => new Uint8Array(30_000 + i).fill(i));
    const body = watched(streams, chunks).stream;
    const received = await serving(server, () => body, async (url) => (await fetch(url)).bytes());
    return Buffer.compare(received, Buffer.concat(chunks));
  }, { skip, expected: 0 });

  sameAsNative(`${name} breaks the response off when the source fails half-way`, async (streams) => {
    const options = { delay: 10, failure: new RangeError("source broke") };
    const body = watched(streams, [utf8("a"), utf8("b")], options).stream;
    const failed = await serving(server, () => body, (url) => failure(async () => (await fetch(url)).text()));
    return failed !== "nothing";
  }, { skip });

  sameAsNative(`${name} cancels the source when the client hangs up`, async (streams) => {
    const { stream, cancelled } = watched(streams, Array(2000).fill(utf8("more")), { delay: 2 });
    return await serving(server, () => stream, async (url) => {
      await hangUp(url);
      return await eventually(cancelled.then(() => "cancelled"));
    });
  }, { skip });

  sameAsNative(`${name} cancels a source that waits when the client hangs up`, async ({ ReadableStream }) => {
    const { promise: cancelled, resolve } = Promise.withResolvers<string>();
    const body = new ReadableStream<Bytes>({
      start: (controller) => controller.enqueue(utf8("first")),
      cancel: () => resolve("cancelled"),
    });
    return await serving(server, () => body, async (url) => {
      await hangUp(url);
      return await eventually(cancelled);
    });
  }, { skip });

  sameAsNative(`${name} holds the source back while the client reads nothing`, async (streams) => {
    const chunk = new Uint8Array(64 * 1024);
    const { stream, given } = watched(streams, Array(1000).fill(chunk), { delay: 0 });
    await serving(server, () => stream, (url) => askAndWait(url, 300));
    return given() < 1000;
  }, { skip });

  sameAsNative(`${name} takes or refuses chunks that are no bytes as natively`, async (streams) => {
    const answers: string[] = [];
    for (const chunk of ["string", new ArrayBuffer(2), new Uint16Array(2)]) {
      const body = (): ReadableStream<Bytes> => watched(streams, [utf8("a"), chunk as unknown as Bytes]).stream;
      const answer = (url: string): Promise<string> => {
        return fetch(url).then((response) => response.text()).catch(() => "broken off");
      };
      answers.push(await eventually(serving(server, body, answer), 1000));
    }
    return answers;
  }, { skip });

  sameAsNative(`${name} answers with the request's body, transformed`, async ({ TransformStream }) => {
    const respond: Respond = (request) => request!.pipeThrough(new TransformStream<Bytes, Bytes>());
    return await serving(server, respond, async (url) => {
      const { stream } = watched(native, pieces.map(utf8));
      const response = await fetch(url, { method: "POST", body: stream, duplex: "half" } as RequestInit);
      return await response.text();
    });
  }, { skip, expected: text });
}
