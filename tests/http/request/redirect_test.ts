import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { resolveOptions } from "../../../lib/http/http_client_options.ts";
import { type FetchRequest, readRequest } from "../../../lib/http/request/fetch_request.ts";
import type { HttpRequestInit } from "../../../lib/http/http_request.ts";
import { redirected } from "../../../lib/http/request/redirect.ts";

function read(url: string, init?: HttpRequestInit): FetchRequest {
  return readRequest(url, init, resolveOptions({ decompress: false }));
}

function follow(
  status: number,
  location: string,
  init?: HttpRequestInit,
  url = "https://a.test/x/y?z#f",
): FetchRequest {
  return redirected(read(url, init), status, location)!;
}

const has = ({ headers }: FetchRequest, name: string): boolean =>
  headers.some((value, at) => at % 2 === 0 && value === name);

test("a Location is resolved against the URL, and inherits its fragment", () => {
  const cases = {
    "/b": "https://a.test/b#f",
    "b?c": "https://a.test/x/b?c#f",
    "?q": "https://a.test/x/y?q#f",
    "": "https://a.test/x/y?z#f",
    "#g": "https://a.test/x/y?z#g",
    "b#g": "https://a.test/x/b#g",
    "//b.test/c": "https://b.test/c#f",
    "http://b.test:81/c": "http://b.test:81/c#f",
    " \t/b ": "https://a.test/b#f",
    "HTTPS://B.test": "https://b.test/#f",
  };
  for (const [location, expected] of Object.entries(cases)) {
    const request = follow(302, location);
    assert.equal(request.url.href, expected);
    assert.equal(request.origin, request.url.origin);
    assert.equal(request.authority, request.url.host);
    assert.equal(`${request.scheme}:`, request.url.protocol);
    assert.equal(request.path, request.url.pathname + request.url.search);
  }
});

test("a Location in UTF-8 is read as such", () => {
  const location = Buffer.from("/ä日").toString("latin1");
  assert.equal(follow(302, location).path, "/%C3%A4%E6%97%A5");
});

test("301 and 302 make a GET of a POST, 303 of all but GET and HEAD, 307 and 308 of nothing", () => {
  const becomes = (status: number, method: string): string => follow(status, "/", { method }).method;
  for (const status of [301, 302]) {
    assert.equal(becomes(status, "POST"), "GET");
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH"]) assert.equal(becomes(status, method), method);
  }
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) assert.equal(becomes(303, method), "GET");
  assert.equal(becomes(303, "HEAD"), "HEAD");
  for (const status of [307, 308]) {
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH"]) assert.equal(becomes(status, method), method);
  }
});

test("a request that becomes a GET loses its body and what is said of it", () => {
  const init = {
    method: "POST",
    body: "text",
    headers: { "content-language": "en", "content-encoding": "x", "content-location": "/", "x-other": "1" },
  };
  const lost = follow(303, "/", init);
  assert.equal(lost.body, undefined);
  assert.equal(lost.idempotent, true);
  assert.deepEqual(lost.headers, ["x-other", "1", "accept", "*/*", "user-agent", "millrace"]);
  const kept = follow(307, "/", init);
  assert.equal(kept.body!.length, 4);
  assert.equal(kept.idempotent, false);
  for (const name of ["content-type", "content-language", "content-encoding", "content-location"]) {
    assert.ok(has(kept, name));
  }
});

test("what the caller said of being sent twice holds for what a redirect leads to", () => {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const method of ["GET", "POST", "PUT", "PATCH"]) {
      for (const idempotent of [true, false]) {
        assert.equal(follow(status, "/", { method, idempotent }).idempotent, idempotent, `${status} ${method}`);
      }
      const unsaid = follow(status, "/", { method });
      assert.equal(unsaid.idempotent, unsaid.method === "GET" || unsaid.method === "PUT");
    }
  }
});

test("secrets stay with their origin, and the host is always that of the URL", () => {
  const headers = { authorization: "a", cookie: "b", "proxy-authorization": "c", "x-other": "d" };
  for (const location of ["https://b.test/", "https://a.test:8443/", "http://a.test/"]) {
    const request = follow(302, location, { headers });
    for (const name of ["authorization", "cookie", "proxy-authorization"]) assert.equal(has(request, name), false);
    assert.ok(has(request, "x-other"));
    assert.equal(request.authority, request.url.host);
  }
  const request = follow(302, "/", { headers });
  for (const name of ["authorization", "cookie", "proxy-authorization"]) assert.ok(has(request, name));
  assert.equal(request.authority, "a.test");
});

test("the original request is as it was", () => {
  const request = read("https://a.test/", { method: "POST", body: "x", headers: { cookie: "b" } });
  const before = [...request.headers];
  redirected(request, 303, "https://b.test/");
  assert.deepEqual(request.headers, before);
  assert.equal(request.method, "POST");
});

test("targets that cannot be fetched fail with REDIRECT_FAILED", () => {
  for (
    const location of [
      "ftp://b.test/",
      "data:,x",
      "http://",
      "https://me:secret@b.test/",
      "http://b.test:0/",
      "javascript:1",
    ]
  ) {
    assert.throws(() => follow(302, location), { code: "REDIRECT_FAILED", origin: "https://a.test", message: /302/ });
  }
});

test("a stream cannot be sent again, and need not be where the request becomes a GET", () => {
  const init = (): HttpRequestInit => ({ method: "POST", body: new ReadableStream() });
  for (const status of [307, 308]) {
    assert.throws(() => follow(status, "/", init()), { code: "REDIRECT_FAILED", message: /stream/ });
  }
  for (const status of [301, 302, 303]) assert.equal(follow(status, "/", init()).body, undefined);
  assert.throws(() => follow(302, "/", { method: "PUT", body: new ReadableStream() }), { code: "REDIRECT_FAILED" });
});

test("redirect says what is done", () => {
  assert.equal(redirected(read("http://a/", { redirect: "manual" }), 302, "/"), undefined);
  assert.throws(() => redirected(read("http://a/", { redirect: "error" }), 302, "/"), { code: "REDIRECT_FAILED" });
  assert.equal(redirected(read("http://a/", { redirect: "error" }), 304, undefined), undefined);
});

test("other statuses, and no Location, are no redirects", () => {
  for (const status of [200, 300, 304, 305, 306, 309, 404]) {
    assert.equal(redirected(read("http://a/"), status, "/"), undefined);
  }
  assert.equal(redirected(read("http://a/"), 302, undefined), undefined);
});
