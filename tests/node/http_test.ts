import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type ServerResponse } from "node:http";
import { describe, it } from "node:test";
import { fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { get, recordWrites, visitor, withHttpServer } from "./loopback.ts";
import { pause, until } from "../support/waits.ts";

const page = Array.from({ length: 40 }, (_, i) => `<li>${i}: é</li>\n`);
const encoder = new TextEncoder();

/** Returns a source that never ends, and reports when it is cancelled. */
function endless(
  size: number,
): { source: ReadableStream<Uint8Array>; cancelled: Promise<unknown>; given: () => number } {
  let given = 0;
  let source: ReadableStream<Uint8Array> = undefined as never;
  const cancelled = new Promise<unknown>((cancel) => {
    source = new ReadableStream<Uint8Array>({
      async pull(controller): Promise<void> {
        await new Promise((resolve) => setImmediate(resolve));
        given += size;
        controller.enqueue(new Uint8Array(size));
      },
      cancel,
    });
  });
  return { source, cancelled, given: () => given };
}

describe("fromNodeWritable() of a response of node:http", () => {
  for (const [kind, chunks] of Object.entries({ strings: page, bytes: page.map((text) => encoder.encode(text)) })) {
    it(`sends a page of ${kind} that comes in one turn by one end(), whole, in order and with its length`, async () => {
      let calls: string[] = [];
      const piped: Promise<void>[] = [];
      await withHttpServer((response) => {
        calls = recordWrites(response);
        piped.push(ReadableStream.from<string | Uint8Array>(chunks).pipeTo(fromNodeWritable(response)));
      }, async (port) => {
        const { body, headers, isWhole } = await get(port);
        assert.deepEqual({ body, isWhole }, { body: page.join(""), isWhole: true });
        assert.equal(headers["content-length"], String(encoder.encode(body).length));
        await piped[0];
      });
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      assert.deepEqual(calls, [`end ${length} ${kind === "bytes" ? "bytes" : "string"}`]);
    });
  }

  it("sends what there is at the end of each turn, without waiting for more", async () => {
    let goOn = (): void => {};
    const rest = new Promise<void>((resolve) => goOn = resolve);
    const source = ReadableStream.from((async function* () {
      yield "first";
      await rest;
      yield " and last";
    })());
    await withHttpServer((response) => {
      source.pipeTo(fromNodeWritable(response)).catch(assert.fail);
    }, async (port) => {
      const socket = await visitor(port);
      let received = "";
      socket.on("data", (data) => received += data).resume();
      await until(() => received.includes("first"), "the first chunk");
      assert.ok(!received.includes("last"));
      goOn();
      await once(socket, "end");
      assert.match(received, /transfer-encoding: chunked/i);
      assert.match(received, / and last/);
    });
  });

  it("leaves status and headers to the application, also a content-length", async () => {
    await withHttpServer((response) => {
      response.writeHead(201, { "content-length": 6, "x-page": "é".length });
      ReadableStream.from(["abc", "def"]).pipeTo(fromNodeWritable<string>(response)).catch(assert.fail);
    }, async (port) => {
      const { status, headers, body } = await get(port);
      assert.deepEqual([status, headers["content-length"], headers["x-page"], body], [201, "6", "1", "abcdef"]);
    });
  });

  it("drops the body of an answer that has none: to HEAD, and with status 304", async () => {
    const piped: Promise<void>[] = [];
    await withHttpServer((response, { method }) => {
      if (method !== "HEAD") response.statusCode = 304;
      piped.push(ReadableStream.from(page).pipeTo(fromNodeWritable<string>(response)));
    }, async (port) => {
      const head = await get(port, "HEAD");
      const unchanged = await get(port);
      assert.deepEqual([head.status, head.body, unchanged.status, unchanged.body], [200, "", 304, ""]);
      await Promise.all(piped);
    });
  });

  it("is written to by pipes of the runtime's own streams as well", async () => {
    const piped: Promise<void>[] = [];
    await withHttpServer((response) => {
      const source = new Response(page.join("")).body!;
      piped.push(source.pipeTo(fromNodeWritable<Uint8Array>(response)));
    }, async (port) => {
      const { body, isWhole } = await get(port);
      assert.deepEqual({ body, isWhole }, { body: page.join(""), isWhole: true });
      await piped[0];
    });
  });

  it("cancels a source of the runtime's own when the visitor leaves in the middle", async () => {
    let source: globalThis.ReadableStream<string> | undefined;
    const cancelled = new Promise<unknown>((cancel) => {
      source = new globalThis.ReadableStream({ start: (controller) => controller.enqueue("first"), cancel });
    });
    await withHttpServer((response) => {
      source!.pipeTo(fromNodeWritable(response)).catch(() => {});
    }, async (port) => {
      const socket = await visitor(port);
      socket.resume();
      await once(socket, "data");
      socket.destroy();
      assert.equal((await cancelled as { code?: string }).code, "ERR_STREAM_PREMATURE_CLOSE");
    });
  });

  it("sends an empty page", async () => {
    await withHttpServer((response) => {
      ReadableStream.from([]).pipeTo(fromNodeWritable(response)).catch(assert.fail);
    }, async (port) => {
      const { body, isWhole } = await get(port);
      assert.deepEqual([body, isWhole], ["", true]);
    });
  });

  it("sends many megabytes whole and in order", async () => {
    const SIZE = 20_000_000;
    await withHttpServer((response) => {
      let at = 0;
      const source = new ReadableStream<Uint8Array>({
        pull(controller): void {
          const chunk = new Uint8Array(Math.min(1 + at % 100_000, SIZE - at));
          for (let i = 0; i < chunk.length; i++) chunk[i] = (at + i) % 251;
          controller.enqueue(chunk);
          at += chunk.length;
          if (at === SIZE) controller.close();
        },
      });
      source.pipeTo(fromNodeWritable(response)).catch(assert.fail);
    }, async (port) => {
      const body = new Uint8Array(await (await fetch(`http://127.0.0.1:${port}`)).arrayBuffer());
      assert.equal(body.length, SIZE);
      assert.equal(body.findIndex((byte, i) => byte !== i % 251), -1);
    });
  });

  it("holds its source back while the visitor reads nothing", async () => {
    const { source, given, cancelled } = endless(10_000);
    let response: ServerResponse | undefined;
    await withHttpServer((answer) => {
      response = answer;
      source.pipeTo(fromNodeWritable(answer)).catch(() => {});
    }, async (port) => {
      const socket = await visitor(port);
      let before = -1;
      while (given() !== before) {
        before = given();
        await pause(100);
      }
      // The limit does not include the system's buffers, which are not under our control.
      assert.ok(response!.writableLength <= 80_000, `${response!.writableLength} bytes wait in the response`);
      socket.destroy();
      await cancelled;
    });
  });

  it("rejects the pipe and cancels the source when the visitor leaves in the middle", async () => {
    const { source, cancelled } = endless(1000);
    const piped: Promise<void>[] = [];
    await withHttpServer((response) => {
      piped.push(source.pipeTo(fromNodeWritable(response)));
      piped[0].catch(() => {});
    }, async (port) => {
      const socket = await visitor(port);
      socket.resume();
      await once(socket, "data");
      socket.destroy();
      const reason = await cancelled;
      assert.ok(reason instanceof Error);
      await assert.rejects(piped[0], (error) => error === reason);
    });
  });

  it("cancels a source that gives nothing when the visitor leaves", async () => {
    let source: ReadableStream | undefined;
    const cancelled = new Promise<unknown>((cancel) => source = new ReadableStream({ cancel }));
    let isAsked = false;
    await withHttpServer((response) => {
      isAsked = true;
      source!.pipeTo(fromNodeWritable(response)).catch(() => {});
    }, async (port) => {
      const socket = await visitor(port);
      await until(() => isAsked, "the request");
      socket.destroy();
      const { code } = await cancelled as { code?: string };
      assert.equal(code, "ERR_STREAM_PREMATURE_CLOSE");
    });
  });

  it("rejects a pipe that begins when the visitor has left", async () => {
    let rejected: Promise<void> | undefined;
    await withHttpServer((response) => {
      response.on("close", () => {
        const piped = ReadableStream.from(page).pipeTo(fromNodeWritable<string>(response));
        rejected = assert.rejects(piped, { code: "ERR_STREAM_PREMATURE_CLOSE" });
        rejected.catch(() => {});
      });
    }, async (port) => {
      const socket = await visitor(port);
      await pause(50);
      socket.destroy();
      await until(() => rejected !== undefined, "the response's end");
      await rejected;
    });
  });

  it("destroys the response when the source fails, so that the visitor sees an end before its time", async () => {
    const failure = new Error("no more");
    await withHttpServer((response) => {
      const source = ReadableStream.from((async function* () {
        yield "first";
        await pause(20);
        throw failure;
      })());
      assert.rejects(source.pipeTo(fromNodeWritable(response)), failure).catch(assert.fail);
    }, async (port) => {
      const answer = await get(port).catch(() => undefined);
      assert.notEqual(answer?.isWhole, true);
    });
  });

  it("destroys the response when the pipe is aborted, with the signal's reason", async () => {
    const { source, cancelled } = endless(1000);
    const abort = new AbortController();
    const reason = new Error("closing time");
    await withHttpServer((response) => {
      assert.rejects(source.pipeTo(fromNodeWritable(response), { signal: abort.signal }), reason).catch(assert.fail);
    }, async (port) => {
      const socket = await visitor(port);
      socket.resume();
      await once(socket, "data");
      abort.abort(reason);
      assert.equal(await cancelled, reason);
      await until(() => socket.closed, "the connection's end");
    });
  });

  it("has sent all when the pipe is done, and leaves the connection for the next request", async () => {
    const finished: boolean[] = [];
    await withHttpServer((response) => {
      ReadableStream.from(page).pipeTo(fromNodeWritable<string>(response))
        .then(() => finished.push(response.writableFinished), assert.fail);
    }, async (port) => {
      for (let i = 0; i < 3; i++) assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), page.join(""));
    });
    assert.deepEqual(finished, [true, true, true]);
  });

  it("answers requests that come at once in their order", async () => {
    let number = 0;
    await withHttpServer((response) => {
      const name = `answer ${number++}`;
      const slowly = ReadableStream.from((async function* () {
        await pause(name === "answer 0" ? 50 : 0);
        yield name;
      })());
      slowly.pipeTo(fromNodeWritable(response)).catch(assert.fail);
    }, async (port) => {
      const socket = await visitorOfTwo(port);
      let received = "";
      for await (const data of socket) received += data;
      assert.deepEqual(received.match(/answer \d/g), ["answer 0", "answer 1"]);
    });
  });
});

/** Sends two requests on one connection, without waiting for the first response. */
async function visitorOfTwo(port: number): ReturnType<typeof visitor> {
  const { connect } = await import("node:net");
  const socket = connect({ port, host: "127.0.0.1" });
  const head = "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n";
  socket.write(`${head}\r\n${head}connection: close\r\n\r\n`);
  return socket;
}

describe("fromNodeWritable() of a request of node:http", () => {
  it("sends the body of the request", async () => {
    await withHttpServer((response, incoming) => {
      let body = "";
      incoming.setEncoding("utf8").on("data", (text) => body += text).on("end", () => response.end(body));
    }, async (port) => {
      const outgoing = request({ port, host: "127.0.0.1", method: "POST", agent: false });
      const answered = once(outgoing, "response");
      await ReadableStream.from(page).pipeTo(fromNodeWritable<string>(outgoing));
      const [answer] = await answered;
      let body = "";
      for await (const text of answer.setEncoding("utf8")) body += text;
      assert.equal(body, page.join(""));
    });
  });

  it("errors with what becomes of a connection that is refused", async () => {
    let free = 0;
    await withHttpServer(() => {}, (port) => Promise.resolve(void (free = port)));
    const outgoing = request({ port: free, host: "127.0.0.1", method: "POST", agent: false });
    const never = new ReadableStream<string>({ start: (controller) => controller.enqueue("a") });
    await assert.rejects(never.pipeTo(fromNodeWritable<string>(outgoing)), { code: "ECONNREFUSED" });
  });
});
