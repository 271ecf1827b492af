import type { NodeHandler, Program, Settings, WebHandler } from "./program.ts";

/** The number of chunks that the origin sends, and the bytes of each. */
export const ORIGIN: { readonly chunks: number; readonly size: number } = { chunks: 16, size: 4096 };
const FIELDS = { "content-type": "text/plain" };

/** Makes capitals of small letters. */
function capitals(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunk);
  for (let i = 0; i < bytes.length; i++) if (bytes[i] >= 97 && bytes[i] <= 122) bytes[i] -= 32;
  return bytes;
}

function web({ origin }: Settings): Promise<WebHandler> {
  return Promise.resolve(async () => {
    const { body } = await fetch(origin);
    const transformed = body!.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
        transform: (chunk, controller) => controller.enqueue(capitals(chunk)),
      }),
    );
    return new Response(transformed, { headers: FIELDS });
  });
}

async function node({ origin }: Settings): Promise<NodeHandler> {
  const { Agent, get } = await import("node:http");
  const { Transform } = await import("node:stream");
  const agent = new Agent({ keepAlive: true });
  return (_request, response) => {
    get(origin, { agent }, (answer) => {
      const transform = new Transform({ transform: (chunk, _, done) => done(null, capitals(chunk)) });
      answer.pipe(transform).pipe(response.writeHead(200, FIELDS));
    });
  };
}

/** A response of 64 KiB that is fetched and passed on through a transform. */
export const proxy: Program = {
  title: "proxy",
  ask: { method: "GET", body: 0 },
  isRight: ({ body }) => body === "A".repeat(ORIGIN.chunks * ORIGIN.size),
  web,
  node,
};
