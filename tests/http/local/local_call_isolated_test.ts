import assert from "node:assert/strict";
import test from "node:test";
import { HttpClient, type HttpErrorCode, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { until, within } from "../../support/waits.ts";
import { failureOf } from "../faults/trial.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** Runs `act` with a client, which must close in time and leave no unhandled rejection. */
async function withClient(act: (client: HttpClient) => Promise<void>): Promise<void> {
  const client = new HttpClient();
  await act(client);
  await within(client.close(), "close()");
  assert.deepEqual(unhandled, []);
}

test("the runtime's own fetch answers data: URLs, and no request is counted", () =>
  withClient(async (client) => {
    for (const url of ["data:text/plain,mill%20race", " data:;base64,bWlsbCByYWNl#part", "DATA:,mill race"]) {
      for (const input of [url, new URL(url), new Request(url)]) {
        const response = await client.fetch(input);
        assert.equal(response.status, 200);
        assert.equal(response.url, new URL(url).href.replace(/#.*/, ""));
        assert.equal(await response.clone().text(), "mill race");
        assert.equal(await response.text(), "mill race");
        assert.deepEqual([...await response.trailers], []);
      }
    }
    assert.equal(await failureOf(client.fetch("data:mill")), "INVALID_URL");
    assert.equal(client.stats().requests, 0);
  }));

test("the runtime's own fetch answers blob: URLs as long as they stand for a Blob", () =>
  withClient(async (client) => {
    const url = URL.createObjectURL(new Blob(["abc", new Uint8Array(300_000).fill(7)], { type: "text/x" }));
    const response = await client.fetch(url);
    assert.equal(response.headers.get("content-type"), (await fetch(url)).headers.get("content-type"));
    assert.equal((await response.bytes()).length, 300_003);
    URL.revokeObjectURL(url);
    assert.equal(await failureOf(client.fetch(url)), "INVALID_URL");
  }));

test("fetch() of a data: URL respects its options", () =>
  withClient(async (client) => {
    const fails = async (init: HttpRequestInit, code: HttpErrorCode): Promise<void> => {
      const done = client.fetch("data:,mill", init).then((response) => response.text());
      assert.equal(await failureOf(done), code);
    };
    await fails({ integrity: "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" }, "INTEGRITY_MISMATCH");
    await fails({ maxResponseSize: 3 }, "LIMIT_EXCEEDED");
    await fails({ headers: { "a b": "c" } }, "INVALID_HEADER");
    const before = client.fetch("data:,mill", { signal: AbortSignal.abort("before") });
    await assert.rejects(before, (reason) => reason === "before");
    const controller = new AbortController();
    const response = await client.fetch("data:,mill", { signal: controller.signal });
    controller.abort("after");
    await assert.rejects(response.text(), (reason) => reason === "after");
    let cancelled = 0;
    const body = new ReadableStream({ cancel: () => void cancelled++ });
    assert.equal(await (await client.fetch("data:,mill", { method: "POST", body })).text(), "mill");
    await until(() => cancelled === 1, "the end of the body");
  }));

test("a client that was destroyed answers nothing", async () => {
  const client = new HttpClient();
  const response = await client.fetch("data:,mill");
  client.destroy();
  assert.equal(await failureOf(response.text()), "CLIENT_CLOSED");
  assert.equal(await failureOf(client.fetch("data:,mill")), "CLIENT_CLOSED");
});

test("a client that is the global one does not call itself", async () => {
  const client = new HttpClient();
  const restore = client.install();
  try {
    assert.equal(await (await client.fetch("data:,mill")).text(), "mill");
    assert.equal(await (await fetch("data:,mill")).text(), "mill");
  } finally {
    restore();
  }
  await client.close();
});

test("interceptors see data: URLs as well", () =>
  withClient(async (client) => {
    const seen: string[] = [];
    const intercept = [(request: { url: string }, next: (request: never) => Promise<Response>) => {
      seen.push(request.url);
      return next(request as never);
    }];
    assert.equal(await (await client.fetch("data:,mill", { intercept })).text(), "mill");
    assert.deepEqual(seen, ["data:,mill"]);
  }));

test("an error about a data: URL shows what kind of data it is of, and nothing of that", async () => {
  for (
    const [url, shown] of [["data:text/plain;base64,s3cret@host", "data:text/plain;base64,…"], [
      "data:s3@t",
      "data:s3…",
    ]]
  ) {
    const error = await new HttpClient().fetch(url!).catch((error: Error) => error);
    assert.match(String(error), new RegExp(`Cannot fetch "${shown}"`));
  }
});

test("URLs of other schemes are refused", () =>
  withClient(async (client) => {
    for (const url of ["file:///etc/passwd", "about:blank", "ftp://mill.example/"]) {
      assert.equal(await failureOf(client.fetch(url)), "INVALID_URL", url);
    }
  }));
