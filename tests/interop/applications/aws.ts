import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createHash } from "node:crypto";
import { load } from "./packages.ts";
import { type Application, read, readWhole, settled, withServer } from "./recorded.ts";

const { GetObjectCommand, PutObjectCommand, S3Client } = await load("@aws-sdk/client-s3");
const { Upload } = await load("@aws-sdk/lib-storage");

const MIB = 2 ** 20;

interface Stored {
  readonly requests: string[];
  readonly objects: Map<string, Buffer>;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Takes a body out of the coding `aws-chunked`, in which a client adds a checksum at the end. */
function unchunked(body: Buffer, request: IncomingMessage): Buffer {
  if (!String(request.headers["content-encoding"] ?? "").includes("aws-chunked")) return body;
  const parts: Buffer[] = [];
  for (let at = 0;;) {
    const end = body.indexOf("\r\n", at);
    const size = parseInt(body.toString("latin1", at, end), 16);
    if (!size) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

const tagOf = (bytes: Uint8Array): string => `"${createHash("md5").update(bytes).digest("hex")}"`;
const xml = (name: string, content: string): string => `<?xml version="1.0"?><${name}>${content}</${name}>`;

/** Answers the requests of S3 that an upload and a download make. */
async function answer(request: IncomingMessage, response: ServerResponse, stored: Stored): Promise<void> {
  const url = new URL(request.url!, "http://localhost");
  const part = url.searchParams.get("partNumber");
  const name = url.pathname + (part ? `#${part.padStart(4, "0")}` : "");
  const body = unchunked(await bodyOf(request), request);
  stored.requests.push(`${request.method} ${name} ${[...url.searchParams.keys()].sort()} ${body.length}`);
  if (request.method === "GET" && url.pathname.endsWith("broken")) {
    response.writeHead(200, { "content-length": "1000" });
    response.write("a part");
    setTimeout(() => response.destroy(), 20);
  } else if (request.method === "GET") {
    const found = stored.objects.get(url.pathname);
    if (!found) response.writeHead(404).end(xml("Error", "<Code>NoSuchKey</Code><Message>none</Message>"));
    else response.writeHead(200, { "content-type": "text/plain", etag: tagOf(found) }).end(found);
  } else if (request.method === "DELETE") response.writeHead(204).end();
  else if (request.method === "PUT") {
    stored.objects.set(name, body);
    response.writeHead(200, { etag: tagOf(body) }).end();
  } else if (url.searchParams.has("uploads")) {
    response.end(xml("InitiateMultipartUploadResult", "<Bucket>b</Bucket><Key>k</Key><UploadId>u</UploadId>"));
  } else {
    const parts = [...stored.objects.keys()].filter((key) => key.startsWith(`${url.pathname}#`)).sort();
    stored.objects.set(url.pathname, Buffer.concat(parts.map((key) => stored.objects.get(key)!)));
    response.end(xml("CompleteMultipartUploadResult", '<Bucket>b</Bucket><Key>k</Key><ETag>"e"</ETag>'));
  }
}

// deno-lint-ignore no-explicit-any -- the SDK is not installed
function withBucket(use: (client: any, stored: Stored) => Promise<unknown>): Promise<unknown> {
  const stored: Stored = { requests: [], objects: new Map() };
  return withServer((request, response) => void answer(request, response, stored), async (endpoint) => {
    const credentials = { accessKeyId: "key", secretAccessKey: "secret" };
    const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials, maxAttempts: 1 });
    try {
      return await use(client, stored);
    } finally {
      client.destroy();
    }
  });
}

/** Returns a stream of `length` bytes, in chunks of 100,000. */
function bytes(length: number, failsAt = Infinity): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= failsAt) throw new Error("the source is gone");
      if (at >= length) return controller.close();
      const chunk = new Uint8Array(Math.min(100_000, length - at)).map((_, i) => (at + i) % 251);
      at += chunk.length;
      controller.enqueue(chunk);
    },
  });
}

const digest = (stored: Stored): unknown => [
  [...stored.requests].sort(),
  [...stored.objects].filter(([key]) => !key.includes("#")).map(([key, bytes]) => [key, bytes.length, tagOf(bytes)]),
];

const upload = (body: () => unknown, options: object = {}): () => Promise<unknown> => () =>
  withBucket(async (client, stored) => {
    const told: number[] = [];
    const params = { Bucket: "b", Key: "k", Body: body() };
    const upload = new Upload({ client, params, partSize: 5 * MIB, queueSize: 2, ...options });
    upload.on("httpUploadProgress", ({ loaded }: { loaded: number }) => told.push(loaded));
    const { error } = await settled(upload.done()) as { error?: string };
    return [error, told.at(-1), digest(stored)];
  });

/** An object's body as the client gives it, in one of its ways. */
// deno-lint-ignore no-explicit-any
const download = (use: (body: any) => Promise<unknown>, key = "k"): () => Promise<unknown> => () =>
  withBucket(async (client, stored) => {
    stored.objects.set("/b/k", Buffer.from("an object, ".repeat(20_000)));
    return await use((await client.send(new GetObjectCommand({ Bucket: "b", Key: key }))).Body);
  });

export const scenarios: Application["scenarios"] = {
  "Upload of a stream in three parts": upload(() => bytes(12 * MIB)),
  "Upload of a stream through a transform": upload(() => bytes(6 * MIB).pipeThrough(new TransformStream())),
  "Upload of a stream that is small": upload(() => bytes(1000)),
  "Upload of one branch of a tee": upload(() => bytes(6 * MIB).tee()[0]),
  "Upload of a native stream": upload(() => new Blob(["text ".repeat(10_000)]).stream()),
  "Upload of a Response's body": upload(() => new Response("text ".repeat(10_000)).body),
  "Upload of a compressed stream": upload(() => bytes(2 * MIB).pipeThrough(new CompressionStream("gzip"))),
  "Upload of a stream that fails": upload(() => bytes(12 * MIB, 6 * MIB)),
  "Upload that is aborted": () =>
    withBucket(async (client) => {
      const params = { Bucket: "b", Key: "k", Body: bytes(40 * MIB) };
      const upload = new Upload({ client, params, partSize: 5 * MIB, queueSize: 1 });
      upload.on("httpUploadProgress", () => void upload.abort());
      return await settled(upload.done());
    }),
  "PutObject of a stream of known length": () =>
    withBucket(async (client, stored) => {
      const command = { Bucket: "b", Key: "k", Body: bytes(300_000), ContentLength: 300_000 };
      const { error } = await settled(client.send(new PutObjectCommand(command))) as { error?: string };
      return [error, digest(stored)];
    }),
  "PutObject with a checksum": () =>
    withBucket(async (client, stored) => {
      const command = {
        Bucket: "b",
        Key: "k",
        Body: bytes(300_000),
        ContentLength: 300_000,
        ChecksumAlgorithm: "SHA256",
      };
      const { error } = await settled(client.send(new PutObjectCommand(command))) as { error?: string };
      return [error, digest(stored)];
    }),
  "GetObject: transformToString()": download((body) => body.transformToString()),
  "GetObject: transformToByteArray()": download(async (body) => (await body.transformToByteArray()).length),
  "GetObject: transformToWebStream()": download((body) => readWhole(body.transformToWebStream())),
  "GetObject: transformToWebStream() through a transform": download(async (body) =>
    await readWhole(
      body.transformToWebStream().pipeThrough(new TextDecoderStream()).pipeThrough(
        new TransformStream<string, string>({ transform: (text, to) => to.enqueue(text.toUpperCase()) }),
      ),
    )
  ),
  "GetObject: a body that is left": download(async (body) => {
    const reader = body.transformToWebStream().getReader();
    const { done } = await reader.read();
    return [done, await settled(reader.cancel("gone"))];
  }),
  "GetObject: a body in a Response": download((body) => new Response(body.transformToWebStream()).text()),
  "GetObject: a body that breaks off": download(
    async (body) => (await readWhole(body.transformToWebStream())).error !== undefined,
    "broken",
  ),
  "GetObject of none": download((body) => read(body), "none"),
};
