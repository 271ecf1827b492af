import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { DATA, END_STREAM } from "../../../lib/http/h2/protocol.ts";
import { HttpError } from "../../../lib/http/mod.ts";
import { pause, until, within } from "../../support/waits.ts";
import { encounter } from "./encounter.ts";
import { type Asked, frame, settingsFrame } from "./hostile_server.ts";
import { nonsense } from "./nonsense.ts";

/** A user's way to handle a request. */
type Use = "text" | "stream" | "cancel" | "abort" | "leave" | "upload";

const gzipped = gzipSync("some text ".repeat(100));

/** Makes a request and uses it up. Says how it ended. */
async function use(fetch: (init: RequestInit) => Promise<Response>, how: Use): Promise<string> {
  const controller = new AbortController();
  const init: RequestInit = how === "upload" ? { method: "POST", body: "x".repeat(100_000) } : {};
  if (how === "abort") setTimeout(() => controller.abort(new Error("the user's")), 3);
  try {
    const response = await fetch({ ...init, signal: controller.signal });
    if (how === "cancel") await response.body?.cancel();
    else if (how === "stream") { for await (const chunk of response.body ?? []) assert.ok(chunk.length > 0); }
    else if (how !== "leave") await response.arrayBuffer();
    return "ended";
  } catch (error) {
    if (error instanceof HttpError) return error.code;
    assert.ok(
      how === "abort" && (error as Error).message === "the user's",
      `not an HttpError: ${(error as Error)?.stack}`,
    );
    return "aborted";
  }
}

test("whatever frames come, every fetch settles with a typed error or a response, and the client goes on", () =>
  encounter({ connections: 3, headersTimeout: 10_000 }, async (server, client) => {
    const uses = fc.array(fc.constantFrom<Use>("text", "stream", "cancel", "abort", "leave", "upload"), {
      minLength: 3,
      maxLength: 3,
    });
    const endings: Record<string, number> = {};
    server.onConnection = (connection) => {
      connection.mayBeHttp1 = true;
      connection.send(settingsFrame({ 3: 100 }));
    };
    await fc.assert(
      fc.asyncProperty(nonsense, uses, fc.boolean(), fc.boolean(), async (frames, hows, isGzipped, ends) => {
        // A new connection each time: the frames are for the streams 1, 3 and 5.
        const asked: Asked[] = [];
        server.onRequest = (one) => {
          asked.push(one);
          const { connection, stream } = one;
          if (asked.length !== 3) return;
          if (isGzipped) {
            const fields = [":status", "200", "content-encoding", "gzip"];
            connection.send(connection.headers(stream, fields), frame(DATA, END_STREAM, stream, gzipped));
          }
          connection.send(frames);
          if (ends) setTimeout(() => connection.socket.end(), 2);
        };
        const all = hows.map((how) => use((init) => client.fetch(`${server.url}/nonsense`, init), how));
        // Requests that are not over by then end with their connection, also repeated ones.
        const timer = setInterval(() => server.connections.forEach(({ socket }) => socket.destroy()), 25);
        try {
          for (const ending of await within(Promise.all(all), "the requests")) {
            endings[ending] = (endings[ending] ?? 0) + 1;
          }
          await until(() => client.stats().connections === 0, "the end of the connections");
        } finally {
          clearInterval(timer);
        }
        const { active, queued } = client.stats();
        assert.deepEqual({ active, queued }, { active: 0, queued: 0 });
        server.connections.length = 0;
      }),
      { numRuns: 30, endOnFailure: true },
    );
    await pause(5); // unhandled rejections come later
    assert.ok(Object.keys(endings).length >= 3, `it means nothing if all end alike: ${JSON.stringify(endings)}`);
  }));
