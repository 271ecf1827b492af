import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { HttpClient, type HttpErrorCode, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { until, within } from "../../support/waits.ts";
import { failureOf } from "../faults/trial.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** Runs with a client that has nothing left afterwards. */
async function withClient(act: (client: HttpClient) => Promise<void>): Promise<void> {
  const client = new HttpClient();
  await act(client);
  await within(client.close(), "close()");
  assert.deepEqual(unhandled, []);
}

/** URLs, and the content types and bytes they stand for. */
const DATA: readonly (readonly [url: string, type: string, body: string])[] = [
  ["data:,", "text/plain;charset=US-ASCII", ""],
  ["data:,mill%20race", "text/plain;charset=US-ASCII", "mill race"],
  ["  data:,mill", "text/plain;charset=US-ASCII", "mill"],
  ["data:,mill?x#race", "text/plain;charset=US-ASCII", "mill?x"],
  ["data:,%FF%4", "text/plain;charset=US-ASCII", "\xff%4"],
  ["data:text/html,<p>", "text/html", "<p>"],
  ["data:Text/HTML;Charset=UTF-8,x", "text/html;charset=UTF-8", "x"],
  ["data:;charset=utf-8,x", "text/plain;charset=utf-8", "x"],
  ["data:image/png;base64,bWlsbA==", "image/png", "mill"],
  ["data:image/png;BASE64,bWls bA", "image/png", "mill"],
  ["data:;  base64,bWlsbA%3D%3D", "text/plain;charset=US-ASCII", "mill"],
  ['data:text/plain;a=1;a=2;b;=3;c=" x\\"";d="y,z', 'text/plain;a=1;c=" x\\"";d=y', "z"],
  ["data:text,x", "text/plain;charset=US-ASCII", "x"],
  ["data:text/pl ain,x", "text/plain;charset=US-ASCII", "x"],
];

const MALFORMED = ["data:mill", "data:;base64,a", "data:;base64,bWls-A==", "data:;base64,=", "data:;base64,a=b="];

test("fetch() answers data: URLs from themselves", () =>
  withClient(async (client) => {
    for (const [url, type, body] of DATA) {
      const response = await client.fetch(url);
      assert.equal(response.status, 200);
      assert.equal(response.statusText, "OK");
      assert.equal(response.type, "basic");
      assert.equal(response.url, new URL(url).href.replace(/#.*/, ""), url);
      assert.equal(response.headers.get("content-type"), type, url);
      assert.deepEqual(Buffer.from(await response.bytes()).toString("latin1"), body, url);
      assert.deepEqual([...await response.trailers], []);
    }
    for (const url of MALFORMED) assert.equal(await failureOf(client.fetch(url)), "INVALID_URL", url);
    assert.equal(await (await client.fetch(new URL("data:,mill"))).text(), "mill");
    assert.equal(await (await client.fetch(new Request("data:,mill"))).text(), "mill");
    assert.equal(await (await client.fetch("data:,mill", { method: "HEAD" })).text(), "");
    assert.equal(await (await client.fetch("data:,mill", { method: "POST", body: "x" })).text(), "mill");
    assert.equal(client.stats().requests, 0);
  }));

test("a malformed data: URL takes no longer than its length allows", () =>
  withClient(async (client) => {
    const most = 300_000;
    const types = [";", " ;", "; ", "=", ";a=", ';a="', "a/b; ", "; base64", "%20", "\\"];
    for (const type of types) {
      const url = `data:a/b;${type.repeat(most / type.length)}x,mill`;
      assert.equal(await (await client.fetch(url)).text(), "mill", type);
    }
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

test("fetch() answers blob: URLs as long as they stand for a Blob", () =>
  withClient(async (client) => {
    const large = new Uint8Array(300_000).fill(7);
    const url = URL.createObjectURL(new Blob(["abc", large], { type: "text/x" }));
    const response = await client.fetch(`${url}#part`);
    assert.equal(response.status, 200);
    assert.equal(response.url, url);
    assert.deepEqual([...response.headers], [["content-length", "300003"], ["content-type", "text/x"]]);
    const copy = response.clone();
    assert.equal((await response.bytes()).length, 300_003);
    assert.equal((await (await copy.blob()).text()).slice(0, 3), "abc");
    const ranges: [string, string, string][] = [
      ["bytes=1-2", "bc", "bytes 1-2/300003"],
      ["bytes=300001-", "\x07\x07", "bytes 300001-300002/300003"],
      ["bytes=-2", "\x07\x07", "bytes 300001-300002/300003"],
      ["BYTES= 0-0", "a", "bytes 0-0/300003"],
    ];
    for (const [range, text, said] of ranges) {
      const part = await client.fetch(url, { headers: { range } });
      assert.equal(part.status, 206, range);
      assert.equal(part.headers.get("content-range"), said);
      assert.equal(await part.text(), text);
    }
    for (const range of ["bytes=300003-", "bytes=2-1", "bytes=-", "bytes=0-1,3-4", "lines=1-2", "bytes=-0"]) {
      assert.equal(await failureOf(client.fetch(url, { headers: { range } })), "INVALID_URL", range);
    }
    assert.equal(await failureOf(client.fetch(url, { method: "POST", body: "x" })), "INVALID_URL");
    URL.revokeObjectURL(url);
    assert.equal(await failureOf(client.fetch(url)), "INVALID_URL");
  }));

test("abort, destroy() and cancel() end the reading of a Blob", async () => {
  const url = URL.createObjectURL(new Blob([new Uint8Array(1_000_000)]));
  try {
    await withClient(async (client) => {
      await (await client.fetch(url)).body!.cancel();
      const controller = new AbortController();
      const response = await client.fetch(url, { signal: controller.signal });
      const reader = response.body!.getReader();
      assert.equal((await reader.read()).done, false);
      controller.abort("enough");
      await assert.rejects(async () => {
        while (!(await reader.read()).done);
      }, (reason) => reason === "enough");
      assert.equal(
        await failureOf(client.fetch(url, { maxResponseSize: 9 }).then((it) => it.text())),
        "LIMIT_EXCEEDED",
      );
      const late = await client.fetch(url, { timeout: 20 });
      await new Promise((resolve) => setTimeout(resolve, 60));
      assert.equal(await failureOf(late.text()), "TIMEOUT");
    });
    const client = new HttpClient();
    const response = await client.fetch(url);
    client.destroy();
    assert.equal(await failureOf(response.text()), "CLIENT_CLOSED");
    await within(client.close(), "close()");
    assert.equal(await failureOf(client.fetch("data:,mill")), "CLIENT_CLOSED");
  } finally {
    URL.revokeObjectURL(url);
  }
});

test("interceptors see data: and blob: URLs as well", () =>
  withClient(async (client) => {
    const seen: string[] = [];
    const intercept = [(request: { url: string }, next: (request: never) => Promise<Response>) => {
      seen.push(request.url);
      return next(request as never);
    }];
    assert.equal(await (await client.fetch("data:,mill", { intercept })).text(), "mill");
    assert.deepEqual(seen, ["data:,mill"]);
  }));

test("URLs of other schemes are refused", () =>
  withClient(async (client) => {
    for (const url of ["file:///etc/passwd", "about:blank", "ftp://mill.example/"]) {
      assert.equal(await failureOf(client.fetch(url)), "INVALID_URL", url);
    }
  }));
