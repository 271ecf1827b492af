import assert from "node:assert/strict";
import { type ClientHttp2Session, constants, type Http2ServerResponse, type ServerHttp2Stream } from "node:http2";
import type { Writable } from "node:stream";
import { describe, it } from "node:test";
import { fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { pause, until } from "../support/waits.ts";
import { withHttp2Server } from "./loopback.ts";

const page = Array.from({ length: 40 }, (_, i) => `<li>${i}: é</li>\n`);

/** The response to a request; the reset code is 0 unless the response was cut off. */
interface Received {
  readonly status: number;
  readonly body: string;
  readonly rstCode: number;
}

function get(session: ClientHttp2Session, method = "GET"): Promise<Received> {
  return new Promise((resolve) => {
    const request = session.request({ ":path": "/", ":method": method });
    let status = 0;
    let body = "";
    request.setEncoding("utf8");
    request.on("response", (headers) => status = headers[":status"]!);
    request.on("data", (text: string) => body += text);
    request.on("error", () => {});
    request.on("close", () => resolve({ status, body, rstCode: request.rstCode ?? 0 }));
    request.end();
  });
}

type Handle = (writable: Writable, method: string) => void;

/** The two ways in which a server writes to a stream of http2. */
const kinds: Readonly<
  Record<string, (handle: Handle, visit: (session: ClientHttp2Session) => Promise<void>) => Promise<void>>
> = {
  "an Http2ServerResponse": (handle, visit) =>
    withHttp2Server((server) => {
      server.on("request", (request, response: Http2ServerResponse) => {
        handle(response as unknown as Writable, request.method);
      });
    }, visit),
  "a ServerHttp2Stream": (handle, visit) =>
    withHttp2Server((server) => {
      server.on("stream", (stream: ServerHttp2Stream, headers) => {
        stream.respond({ ":status": 200 });
        handle(stream, headers[":method"]!);
      });
    }, visit),
};

for (const [kind, withServer] of Object.entries(kinds)) {
  describe(`fromNodeWritable() of ${kind}`, () => {
    it("sends a page whole and in order", async () => {
      const piped: Promise<void>[] = [];
      await withServer((writable) => {
        piped.push(ReadableStream.from(page).pipeTo(fromNodeWritable<string>(writable)));
      }, async (session) => {
        assert.deepEqual(await get(session), { status: 200, body: page.join(""), rstCode: 0 });
        await Promise.all(piped);
      });
    });

    it("sends megabytes whole, as the visitor's flow control lets them pass", async () => {
      const chunk = "0123456789".repeat(10_000);
      let most = 0;
      await withServer((writable) => {
        const source = ReadableStream.from((function* () {
          for (let i = 0; i < 50; i++) {
            most = Math.max(most, writable.writableLength);
            yield chunk;
          }
        })());
        source.pipeTo(fromNodeWritable<string>(writable)).catch(assert.fail);
      }, async (session) => {
        const { body, rstCode } = await get(session);
        assert.ok(body === chunk.repeat(50), `${body.length} characters`);
        assert.equal(rstCode, 0);
      });
      assert.ok(most <= 200_000, `${most} bytes waited`);
    });

    it("sends large chunks of bytes whole and in order", async () => {
      const chunks = Array.from({ length: 100 }, (_, i) => new Uint8Array(20_000 + i).fill(97 + i % 26));
      await withServer((writable) => {
        ReadableStream.from(chunks).pipeTo(fromNodeWritable(writable)).catch(assert.fail);
      }, async (session) => {
        const { body, rstCode } = await get(session);
        assert.ok(body === chunks.map((chunk) => new TextDecoder().decode(chunk)).join(""), `${body.length} bytes`);
        assert.equal(rstCode, 0);
      });
    });

    it("has no body to send in answer to HEAD", async () => {
      const piped: Promise<void>[] = [];
      await withServer((writable) => {
        piped.push(ReadableStream.from(page).pipeTo(fromNodeWritable<string>(writable)));
      }, async (session) => {
        assert.deepEqual(await get(session, "HEAD"), { status: 200, body: "", rstCode: 0 });
        await Promise.all(piped);
      });
    });

    for (const [state, size] of Object.entries({ "nothing is in flight": 10, "a write is in flight": 1_000_000 })) {
      it(`rejects the pipe and cancels the source when the visitor resets the stream and ${state}`, async () => {
        const events: Record<string, unknown> = {};
        await withServer((writable) => {
          const source = new ReadableStream({
            start: (controller) => controller.enqueue(new Uint8Array(size)),
            cancel: (reason) => void (events.cancelled = reason),
          });
          source.pipeTo(fromNodeWritable(writable)).catch((error) => events.rejected = error);
        }, async (session) => {
          const request = session.request({ ":path": "/" });
          request.on("error", () => {});
          request.on("response", () => void pause(50).then(() => request.close(constants.NGHTTP2_CANCEL)));
          await until(() => events.rejected !== undefined, "the rejection");
        });
        assert.equal((events.rejected as { code?: string }).code, "ERR_STREAM_PREMATURE_CLOSE");
        assert.equal(events.cancelled, events.rejected);
      });
    }

    it("does not take an end that the visitor has not had for one", async () => {
      let failure: unknown;
      await withServer((writable) => {
        ReadableStream.from(["0".repeat(1_000_000)]).pipeTo(fromNodeWritable<string>(writable))
          .then(() => failure = "none", (error) => failure = error);
      }, async (session) => {
        const request = session.request({ ":path": "/" });
        request.on("error", () => {});
        request.on("response", () => void pause(50).then(() => request.close(constants.NGHTTP2_CANCEL)));
        await until(() => failure !== undefined, "the pipe's end");
      });
      assert.equal((failure as { code?: string }).code, "ERR_STREAM_PREMATURE_CLOSE");
    });

    it("resets the stream when the source fails, and leaves the session alone", async () => {
      let isFirst = true;
      await withServer((writable) => {
        const failing = isFirst;
        isFirst = false;
        const source = ReadableStream.from((async function* () {
          yield "first";
          await pause(20);
          if (failing) throw new Error("no more");
        })());
        source.pipeTo(fromNodeWritable(writable)).then(() => assert.equal(failing, false), () => assert.ok(failing));
      }, async (session) => {
        const { rstCode } = await get(session);
        assert.notEqual(rstCode, 0);
        assert.deepEqual(await get(session), { status: 200, body: "first", rstCode: 0 });
      });
    });

    it("carries many streams of one session", async () => {
      await withServer((writable) => {
        ReadableStream.from(page).pipeTo(fromNodeWritable<string>(writable)).catch(assert.fail);
      }, async (session) => {
        const all = await Promise.all(Array.from({ length: 50 }, () => get(session)));
        assert.deepEqual(new Set(all.map(({ body }) => body)), new Set([page.join("")]));
      });
    });
  });
}

describe("fromNodeWritable() of an Http2ServerResponse", () => {
  it("has no body to send with status 304", async () => {
    const piped: Promise<void>[] = [];
    await kinds["an Http2ServerResponse"]((writable) => {
      (writable as unknown as Http2ServerResponse).statusCode = 304;
      piped.push(ReadableStream.from(page).pipeTo(fromNodeWritable<string>(writable)));
    }, async (session) => {
      assert.deepEqual(await get(session), { status: 304, body: "", rstCode: 0 });
      await Promise.all(piped);
    });
  });
});
