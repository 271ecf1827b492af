import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { HttpClient, HttpError, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { failureOf } from "../faults/trial.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const CONTENT = Buffer.alloc(300_000, "grist ");

function echo(request: ServerRequest): void {
  whenWhole(request, () => {
    if (request.path === "/moved") return respond(request, 307, Buffer.from("moved"), { location: "/there" });
    if (request.path === "/see") return respond(request, 303, Buffer.from("see"), { location: "/there" });
    respond(request, 200, Buffer.from("fine"));
  });
}

const bodies: Record<string, () => HttpRequestInit["body"]> = {
  "a text": () => "grist",
  "no bytes": () => new Uint8Array(0),
  "bytes": () => CONTENT,
  "a Blob": () => new Blob([CONTENT]),
  "a stream": () => new Blob([CONTENT]).stream(),
  "an iterable": async function* () {
    yield CONTENT;
    yield "more";
  } as unknown as () => HttpRequestInit["body"],
};

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  for (const [what, make] of Object.entries(bodies)) {
    test(
      name(`trailers follow a body of ${what}, and are announced`),
      () =>
        scene(protocol, {}, echo, async ({ client, url, requests }) => {
          for (let round = 0; round < 2; round++) {
            const trailers = { "X-Sum": () => "42", "x-note": "grün", "x-late": () => Promise.resolve("late") };
            const init = { method: "POST", body: make(), trailers };
            assert.equal(await (await client.fetch(url, init)).text(), "fine");
          }
          for (const { fields, trailers, received } of requests) {
            assert.deepEqual([...trailers], [["x-sum", "42"], ["x-note", "grün"], ["x-late", "late"]]);
            assert.equal(fields.get("trailer"), "x-sum, x-note, x-late");
            assert.equal(fields.get("content-length"), undefined);
            assert.equal(fields.get("transfer-encoding"), protocol === "h2c" ? undefined : "chunked");
            assert.ok(received > 0 || what === "no bytes");
          }
        }),
    );
  }

  test(
    name("a trailer is computed once the body has been read, and again with each attempt"),
    () =>
      scene(protocol, {}, echo, async ({ client, url, requests }) => {
        const hash = createHash("sha256");
        async function* hashed(): AsyncGenerator<Uint8Array> {
          for (let at = 0; at < CONTENT.length; at += 10_000) {
            const piece = CONTENT.subarray(at, at + 10_000);
            hash.update(piece);
            yield piece;
          }
        }
        const trailers = { "x-digest": () => hash.digest("hex") };
        await (await client.fetch(url, { method: "PUT", body: hashed(), trailers })).text();
        assert.equal(requests[0].trailers.get("x-digest"), createHash("sha256").update(CONTENT).digest("hex"));
        let count = 0;
        const counted = { "x-count": () => String(++count) };
        await (await client.fetch(`${url}/moved`, { method: "PUT", body: "x", trailers: counted })).text();
        assert.deepEqual(requests.slice(1).map(({ trailers }) => trailers.get("x-count")), ["1", "2"]);
        await (await client.fetch(`${url}/see`, { method: "POST", body: "x", trailers: counted })).text();
        const { method, fields, trailers: none } = requests.at(-1)!;
        assert.deepEqual([method, fields.get("trailer"), none.size], ["GET", undefined, 0]);
      }),
  );

  test(
    name("a trailer that cannot be sent fails the request, and its body is cancelled"),
    () =>
      scene(protocol, { retries: 0 }, echo, async ({ client, url }) => {
        const reason = new RangeError("no sum today");
        const wrong: Record<string, () => unknown> = {
          "throws": () => {
            throw reason;
          },
          "rejects": () => Promise.reject(reason),
          "a line break": () => "a\r\nb: c",
          "no text": () => undefined,
        };
        for (const [what, make] of Object.entries(wrong)) {
          const init = { method: "POST", body: "x", trailers: { "x-a": make as () => string } };
          const error = await client.fetch(url, init).catch((error) => error);
          assert.ok(error instanceof HttpError, what);
          assert.equal(error.code, "BODY_FAILED", what);
          assert.match(error.message, /x-a/);
          if (what === "throws" || what === "rejects") assert.equal(error.cause, reason);
        }
      }),
  );

  test(
    name("no further trailer is computed once another one has aborted the request"),
    () =>
      scene(protocol, {}, () => {}, async ({ client, url }) => {
        const stop = new AbortController();
        const reason = new Error("mine");
        let calls = 0;
        const trailers = {
          "x-a": async () => `${await Promise.resolve(stop.abort(reason))}`,
          "x-b": () => `${++calls}`,
        };
        await assert.rejects(
          client.fetch(url, { method: "PUT", body: "grist", signal: stop.signal, trailers }),
          reason,
        );
        await new Promise((resolve) => setTimeout(resolve, 20));
        assert.equal(calls, 0);
      }),
  );

  test(
    name("no trailer is computed of a body that was aborted midway"),
    () =>
      scene(protocol, {}, () => {}, async ({ client, url }) => {
        for (const isSlow of [false, true]) {
          const stop = new AbortController();
          const reason = new Error("mine");
          let calls = 0;
          const body = (async function* () {
            for (let piece = 0; piece < 3; piece++) yield Buffer.from("grist");
            stop.abort(reason);
            if (isSlow) await new Promise((resolve) => setTimeout(resolve, 5));
          })();
          const init = { method: "PUT", body, signal: stop.signal, trailers: { "x-a": () => `${++calls}` } };
          await assert.rejects(client.fetch(url, init), reason);
          await new Promise((resolve) => setTimeout(resolve, 20));
          assert.equal(calls, 0);
        }
      }),
  );

  test(
    name("names that have no meaning after a body, and trailers without one, are refused before anything is sent"),
    () =>
      scene(protocol, {}, echo, async ({ client, url, requests }) => {
        const refused = ["content-length", "Host", "transfer-encoding", "trailer", "te", "authorization", "Cookie"];
        refused.push(
          "content-type",
          "content-encoding",
          "content-range",
          "expect",
          "connection",
          "cache-control",
          "range",
        );
        for (const name of [...refused, "a b", "", "a:"]) {
          const init = { method: "POST", body: "x", trailers: { [name]: "1" } };
          assert.equal(await failureOf(client.fetch(url, init)), "INVALID_HEADER", name);
        }
        const bad = { method: "POST", body: "x", trailers: { "x-a": "a\nb" } };
        assert.equal(await failureOf(client.fetch(url, bad)), "INVALID_HEADER");
        for (const trailers of [5, "x", { "x-a": 5 }, [["x-a", "1"]]]) {
          const init = { method: "POST", body: "x", trailers } as unknown as HttpRequestInit;
          assert.equal(await failureOf(client.fetch(url, init)), "INVALID_OPTION");
        }
        assert.equal(await failureOf(client.fetch(url, { trailers: { "x-a": "1" } })), "INVALID_OPTION");
        assert.equal(requests.length, 0);
        await (await client.fetch(url, { method: "POST", body: "x", trailers: {} })).text();
        assert.equal(requests[0].fields.get("content-length"), "1");
      }),
  );
}

test("node:http reads the trailers of a request", async () => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end(JSON.stringify(request.trailers)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new HttpClient();
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const response = await client.fetch(url, { method: "POST", body: "x", trailers: { "x-sum": () => "42" } });
    assert.deepEqual(await response.json(), { "x-sum": "42" });
  } finally {
    client.destroy();
    server.close();
  }
});
