import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { writeTree } from "../support/folders.ts";

const folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
after(() => rm(folder, { recursive: true }));

const large = "0123456789".repeat(10_000);
await writeTree(folder, {
  "docs/index.html": "<p>Docs</p>\n",
  "large.txt": large,
  "empty.txt": "",
  "ten.txt": "0123456789",
});

type Exchange = readonly [request: string, status: number, content: string | RegExp];

const get = (path: string, ...lines: string[]): string => ["GET", path, ...lines].join("\n");

/**
 * Answers of every kind, with and without content: the next answer on the connection shows whether each ended at its
 * length.
 */
const exchanges: readonly Exchange[] = [
  [get("/ten.txt"), 200, "0123456789"],
  ["HEAD\n/large.txt", 200, ""],
  [get("/large.txt"), 200, large],
  [get("/ten.txt", "If-None-Match: *"), 304, ""],
  ["HEAD\n/ten.txt\nIf-None-Match: *", 304, ""],
  [get("/large.txt", "Range: bytes=99990-"), 206, "0123456789"],
  [get("/large.txt", "Range: bytes=0-1,50000-50004"), 206, /\r\n\r\n01\r\n--[^]*\r\n\r\n01234\r\n--/],
  ["HEAD\n/large.txt\nRange: bytes=0-1", 200, ""],
  [get("/ten.txt", "Range: bytes=10-"), 416, /./],
  [get("/ten.txt", 'If-Match: "x"'), 412, /./],
  ['HEAD\n/ten.txt\nIf-Match: "x"', 412, ""],
  [get("/ten.txt", "Accept-Encoding: *;q=0"), 406, /./],
  [get("/empty.txt"), 200, ""],
  [get("/empty.txt", "Range: bytes=-1"), 200, ""],
  [get("/nothing"), 404, /./],
  ["HEAD\n/nothing", 404, ""],
  [get("/docs"), 301, ""],
  ["HEAD\n/docs", 301, ""],
  [get("/docs/"), 200, "<p>Docs</p>\n"],
  [get("/%"), 400, /./],
  ["OPTIONS\n/ten.txt", 204, ""],
  ["POST\n/ten.txt\nContent-Length: 5\n\nhello", 405, /./],
  ["GET\n/ten.txt\nContent-Length: 5\n\nhello", 200, "0123456789"],
  [get("/ten.txt"), 200, "0123456789"],
];

/** Returns the bytes of a request; its lines are those of `text`. */
function requestOf(text: string): Buffer {
  const [head, content = ""] = text.split("\n\n");
  const [method, target, ...lines] = head.split("\n");
  return Buffer.from([`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", ...lines, "", content].join("\r\n"), "latin1");
}

/** Takes the first answer off `received`; undefined if it is not all there yet. */
function firstAnswer(received: string, request: string): { status: number; content: string; rest: string } | undefined {
  const end = received.indexOf("\r\n\r\n") + 4;
  if (end < 4) return undefined;
  const [statusLine, ...lines] = received.slice(0, end - 4).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]);
  assert.ok(status, `an answer begins with ${JSON.stringify(statusLine)}`);
  assert.ok(!lines.some((line) => /^transfer-encoding:/i.test(line)), "the length is known");
  const length = lines.map((line) => /^content-length: (\d+)$/i.exec(line)?.[1]).find((value) => value !== undefined);
  const hasContent = status !== 204 && status !== 304 && !request.startsWith("HEAD");
  if (hasContent) assert.ok(length !== undefined, `${status} has a length`);
  const next = end + (hasContent ? Number(length) : 0);
  return received.length < next
    ? undefined
    : { status, content: received.slice(end, next), rest: received.slice(next) };
}

/** Puts all requests on one connection, the next when the last is answered, or all at once. */
function converse(port: number, pipelined: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const waiting = [...exchanges];
    let received = "";
    const sendNext = () => waiting.length > 0 && socket.write(requestOf(waiting[0][0]));
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      try {
        for (let answer; waiting.length > 0 && (answer = firstAnswer(received, waiting[0][0]));) {
          const [request, status, content] = waiting.shift()!;
          assert.equal(answer.status, status, request);
          if (typeof content === "string") assert.equal(answer.content, content, request);
          else assert.match(answer.content, content, request);
          received = answer.rest;
          if (!pipelined) sendNext();
        }
        if (waiting.length > 0) return;
        assert.equal(received, "", "nothing follows the last answer");
        socket.end();
        resolve();
      } catch (error) {
        socket.destroy();
        reject(error);
      }
    });
    socket.on("close", () => reject(new Error(`closed with ${waiting.length} requests to answer: ${waiting[0]?.[0]}`)));
    socket.on("error", reject);
    if (pipelined) socket.write(Buffer.concat(exchanges.map(([request]) => requestOf(request))));
    else sendNext();
  });
}

for (const [kept, memoryLimit] of [["memory", undefined], ["files", 0]] as const) {
  for (const pipelined of [false, true]) {
    const manner = pipelined ? "that are sent at once" : "one after the other";
    test(`a connection stays in step over answers of every kind from ${kept}, to requests ${manner}`, async () => {
      const handler = await createStaticHandler(folder, { memoryLimit });
      const server = createServer((request, response) => handler.node(request, response));
      try {
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        await converse((server.address() as AddressInfo).port, pipelined);
      } finally {
        server.closeAllConnections();
        server.close();
        await handler.close();
      }
    });
  }
}
