import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { Agent, type IncomingMessage, request, type RequestOptions } from "node:http";
import { connect, type Socket } from "node:net";
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from "node:zlib";
import { noise } from "../../support/bytes.ts";
import { eventData, isSelfHashed, sha256, userOf, wholePage } from "./contents.ts";
import { isLost } from "./upstream.ts";

/** The server's address, and the counts that all clients add to. */
export interface Target {
  readonly port: number;
  /** The files of the site that never change, with their hashes. */
  readonly files: ReadonlyMap<string, string>;
  readonly large: string;
  /** Called with the id of each request that was answered to its end. */
  answered(id: number): void;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A visit of a client, well-behaved or hostile; `random` returns whole numbers below a limit. */
export type Sender = (target: Target, id: number, random: (below: number) => number) => Promise<void>;

const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 3000 });
const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Sends a request and receives the whole answer. One that met the end of an idle connection is sent again. */
async function ask(target: Target, id: number, options: RequestOptions, body?: Uint8Array): Promise<Answer> {
  const headers = { "x-id": id, ...options.headers as object };
  const hasBody = body !== undefined;
  const asked = request({ port: target.port, host: "127.0.0.1", agent: hasBody ? false : agent, ...options, headers });
  asked.on("error", () => {}); // after the answer: a refused body's connection ends while the body is sent
  asked.end(body);
  try {
    const [response] = await once(asked, "response") as [IncomingMessage];
    const whole = Buffer.concat(await Array.fromAsync(response));
    const decode = decoders[response.headers["content-encoding"] ?? ""];
    target.answered(id);
    return { status: response.statusCode!, headers: response.headers, body: decode?.(whole) ?? whole };
  } catch (error) {
    if (!asked.reusedSocket || (error as { code?: string }).code !== "ECONNRESET") {
      throw new Error(`${asked.method} ${asked.path} of ${id} failed`, { cause: error });
    }
    return await ask(target, id, { ...options, agent: false }, body);
  }
}

const codings = ["identity", "gzip", "br", "zstd", "gzip, br, zstd"];
const accept = (random: (below: number) => number): object => ({ "accept-encoding": codings[random(codings.length)] });

async function file(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const paths = [...target.files.keys()];
  const path = paths[random(paths.length)];
  const { status, body, headers } = await ask(target, id, { path, headers: { ...accept(random) } });
  assert.equal(status, 200);
  assert.equal(sha256(body), target.files.get(path), path);
  if (random(2) === 0) return;
  const etag = headers.etag!;
  const again = await ask(target, id + 0.5, {
    path,
    headers: { "if-none-match": etag, "accept-encoding": "identity" },
  });
  assert.ok(again.status === 304 || sha256(again.body) === target.files.get(path));
}

async function changingFile(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const { status, body } = await ask(target, id, { path: "/live.js", headers: { ...accept(random) } });
  assert.ok(status === 200 ? isSelfHashed(body.toString()) : status === 503, `${status}`);
}

async function part(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const start = random(1_000_000);
  const range = `bytes=${start}-${start + 5000}`;
  const headers = { range, "accept-encoding": "identity" };
  const { status, body } = await ask(target, id, { path: target.large, headers });
  assert.deepEqual([status, body.length], [206, 5001]);
}

async function page(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const { status, body } = await ask(target, id, { path: "/page/", headers: { ...accept(random) } });
  assert.equal(status, 200);
  assert.equal(body.toString(), wholePage(String(id)));
}

async function user(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const number = random(1000);
  const { status, body } = await ask(target, id, { path: `/user/${number}`, headers: { ...accept(random) } });
  if (isLost(number)) assert.equal(status, 502);
  else assert.equal(body.toString(), userOf(number));
}

async function csv(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const rows = Array.from({ length: 1 + random(500) }, (_, i) => ({ id: String(i), name: `a "mill", ${id}` }));
  const text = `id,name\n${rows.map(({ id, name }) => `${id},"${name.replaceAll('"', '""')}"\n`).join("")}`;
  const { status, body } = await ask(target, id, { method: "POST", path: "/csv", headers: {} }, Buffer.from(text));
  assert.equal(status, 200);
  assert.equal(body.toString(), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

async function recode(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const [format, coding] = [["gzip", "gzip"], ["brotli", "br"], ["zstd", "zstd"]][random(3)];
  const bytes = Buffer.from(wholePage(String(id)).repeat(1 + random(300)));
  const { status, body } = await ask(target, id, { method: "POST", path: `/recode/${format}` }, bytes);
  assert.equal(status, 200);
  assert.ok(decoders[coding](body).equals(bytes));
}

async function count(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const bytes = noise(1 + random(200_000), id);
  const { body } = await ask(target, id, { method: "POST", path: "/count" }, bytes);
  assert.equal(body.toString(), String(bytes.length));
}

async function upload(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const isTooLarge = random(20) === 0;
  const bytes = noise(isTooLarge ? 4_100_000 : 1 + random(300_000), id);
  const sent = ask(target, id, { method: "PUT", path: `/films/film-${random(40)}.bin` }, bytes);
  if (isTooLarge) return void await sent.then(({ status }) => assert.equal(status, 413), () => {}); // cut, perhaps
  const { status, body } = await sent;
  if (status === 412 || status === 409) return; // another sender's came in between
  assert.ok(status === 200 || status === 201, `${status} ${body}`);
  const [stored] = JSON.parse(body.toString()).files;
  assert.equal(stored.bytes, bytes.length);
  assert.equal(Buffer.from(JSON.stringify(stored.digest)).includes(Buffer.from(sha256Base64(bytes))), true);
}

const sha256Base64 = (bytes: Uint8Array): string => Buffer.from(sha256(bytes), "hex").toString("base64");

/** Uploads by tus, with an interruption in the middle. */
async function resumed(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const bytes = noise(50_000 + random(100_000), id);
  const tus = { "tus-resumable": "1.0.0" };
  const created = await ask(target, id, {
    method: "POST",
    path: "/films/",
    headers: { ...tus, "upload-length": bytes.length, "upload-metadata": `filename ${btoa(`tus-${random(20)}.bin`)}` },
  }, new Uint8Array());
  assert.equal(created.status, 201);
  const path = new URL(created.headers.location!, "http://localhost").pathname;
  const type = "application/offset+octet-stream";
  const cut = request({
    port: target.port,
    host: "127.0.0.1",
    agent: false,
    method: "PATCH",
    path,
    headers: { ...tus, "upload-offset": 0, "content-type": type, "content-length": bytes.length },
  });
  cut.on("error", () => {});
  cut.write(bytes.subarray(0, 30_000), () => cut.destroy());
  await new Promise((resolve) => cut.on("close", resolve));
  const { headers, status } = await ask(target, id + 0.25, { method: "HEAD", path, headers: tus, agent: false });
  assert.equal(status, 200);
  const offset = Number(headers["upload-offset"]);
  const rest = { method: "PATCH", path, headers: { ...tus, "upload-offset": offset, "content-type": type } };
  const done = await ask(target, id + 0.75, rest, bytes.subarray(offset));
  assert.deepEqual([done.status, Number(done.headers["upload-offset"])], [204, bytes.length]);
}

/** A subscriber that checks some events, and leaves. */
async function events(target: Target, id: number, random: (below: number) => number): Promise<void> {
  const isCompressed = random(2) === 0;
  const headers = { "x-id": id, "accept-encoding": isCompressed ? "gzip" : "identity" };
  const asked = request({ port: target.port, host: "127.0.0.1", path: "/events", agent: false, headers }).end();
  asked.on("error", () => {});
  const [response] = await once(asked, "response") as [IncomingMessage];
  const text = isCompressed ? response.pipe(createGunzip()) : response;
  response.on("error", () => {});
  let received = "";
  let numbers: number[] = [];
  for await (const chunk of text) {
    received += chunk;
    numbers = [...received.matchAll(/^data: (\d+) .*\n\n/gm)].map(([, number]) => Number(number));
    if (numbers.length > 5) break;
  }
  asked.destroy();
  assert.ok(numbers.length > 5, "the events end");
  numbers.forEach((number, i) => {
    assert.equal(number, numbers[0] + i, "an event is missing");
    assert.ok(received.includes(`data: ${eventData(number)}\n`), "an event is another one");
  });
}

function raw(target: Target, text: string): Socket {
  const socket = connect(target.port, "127.0.0.1");
  socket.on("error", () => {}); // a refusal may come as a reset
  socket.write(text);
  return socket;
}

async function closed(socket: Socket): Promise<void> {
  socket.destroy();
  if (!socket.closed) await new Promise((resolve) => socket.on("close", resolve));
}

/** A reader of the largest file who stops reading, and then leaves. */
async function slowReader(target: Target, _id: number, random: (below: number) => number): Promise<void> {
  const path = random(2) === 0 ? target.large : "/events";
  const socket = raw(target, `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
  await new Promise((resolve) => socket.on("readable", resolve).on("close", resolve));
  await new Promise((resolve) => setTimeout(resolve, 50 + random(500)));
  await closed(socket);
}

/** A sender who leaves in the middle of a body. */
async function cutBody(target: Target, _id: number, random: (below: number) => number): Promise<void> {
  const [line] = [["PUT /films/cut.bin"], ["POST /csv"], ["POST /recode/zstd"], ["POST /count"]][random(4)];
  const socket = raw(target, `${line} HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n`);
  socket.write(noise(random(99_000)));
  await new Promise((resolve) => setTimeout(resolve, random(50)));
  await closed(socket);
}

/** Bytes that are not HTTP, and requests that are cut off. */
async function nonsense(target: Target, _id: number, random: (below: number) => number): Promise<void> {
  const texts = [
    "GET / HTTP/1.1\r\nhost: a",
    "GET /../../etc/passwd HTTP/1.1\r\nhost: a\r\n\r\n",
    "GET /%00%ff HTTP/1.1\r\nhost: a\r\n\r\n",
    "POST /csv HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "\u0016\u0003\u0001",
    `GET /app.js HTTP/1.1\r\nhost: a\r\nrange: bytes=${"0-1,".repeat(500)}2-3\r\n\r\n`,
    `GET / HTTP/1.1\r\nhost: a\r\naccept-encoding: ${"br;q=0.1,".repeat(200)}\r\n\r\n`,
    "POST /films/ HTTP/1.1\r\nhost: a\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 9\r\n\r\n--b\r\nabcd",
  ];
  const socket = raw(target, texts[random(texts.length)]);
  socket.resume();
  await new Promise((resolve) => setTimeout(resolve, random(100)));
  await closed(socket);
}

/** The ways, with their weights; `timed` are those whose time says how well the server answers. */
export const senders: readonly { readonly send: Sender; readonly weight: number; readonly timed: boolean }[] = [
  { send: file, weight: 20, timed: true },
  { send: changingFile, weight: 5, timed: true },
  { send: part, weight: 8, timed: true },
  { send: page, weight: 30, timed: true },
  { send: user, weight: 10, timed: false },
  { send: csv, weight: 4, timed: true },
  { send: recode, weight: 4, timed: true },
  { send: count, weight: 4, timed: true },
  { send: upload, weight: 6, timed: false },
  { send: resumed, weight: 2, timed: false },
  { send: events, weight: 3, timed: false },
  { send: slowReader, weight: 3, timed: false },
  { send: cutBody, weight: 4, timed: false },
  { send: nonsense, weight: 4, timed: false },
];
