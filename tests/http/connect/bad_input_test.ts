import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import type { LookupFunction } from "node:net";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { HttpClient, type HttpClientOptions, HttpError, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { type Listening, serveTcp, serveTls } from "./servers.ts";

const tls = { ca: certificates.ca };
const lookup: LookupFunction = (_name, { all }, callback) => {
  if (all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(null, "127.0.0.1", 4);
};

/** Returns the failure of a request: a TypeError of this package with a cause, as users of fetch know it. */
async function failure(url: unknown, init: unknown = {}, options: HttpClientOptions = {}): Promise<HttpError> {
  const client = new HttpClient({ tls, lookup, connectTimeout: 2_000, headersTimeout: 2_000, retries: 0, ...options });
  try {
    const request = client.fetch(url as string, init as HttpRequestInit).then((response) => response.bytes());
    const error = await request.then(() => assert.fail("it succeeded"), (error: unknown) => error);
    assert.ok(error instanceof TypeError && error instanceof HttpError, String(error));
    assert.ok(error.cause instanceof Error, "no cause");
    assert.equal(typeof (error.cause as NodeJS.ErrnoException).code, "string", "no code in the cause");
    assert.match(error.message, /\S+ \S+/);
    return error;
  } finally {
    client.destroy();
  }
}

const unusable: readonly [what: string, url: unknown, init: unknown, code: string][] = [
  ["no URL", "", {}, "INVALID_URL"],
  ["a path without a host", "/a/b", {}, "INVALID_URL"],
  ["a host that is none", "http://a b/", {}, "INVALID_URL"],
  ["a port that is none", "http://localhost:99999/", {}, "INVALID_URL"],
  ["another scheme", "ftp://localhost/", {}, "INVALID_URL"],
  ["a file", "file:///etc/passwd", {}, "INVALID_URL"],
  ["user name and password", "http://me:secret@localhost/", {}, "INVALID_URL"],
  ["a method that is no token", "http://localhost/", { method: "GET it" }, "INVALID_METHOD"],
  ["a line break in the method", "http://localhost/", { method: "GET\r\nX: y" }, "INVALID_METHOD"],
  ["CONNECT", "http://localhost/", { method: "CONNECT" }, "INVALID_METHOD"],
  ["TRACE", "http://localhost/", { method: "trace" }, "INVALID_METHOD"],
  ["a header name that is no token", "http://localhost/", { headers: [["a b", "c"]] }, "INVALID_HEADER"],
  ["a header without a name", "http://localhost/", { headers: [["", "c"]] }, "INVALID_HEADER"],
  ["a line break in a header", "http://localhost/", { headers: [["a", "b\r\nc: d"]] }, "INVALID_HEADER"],
  ["NUL in a header", "http://localhost/", { headers: [["a", "b\0c"]] }, "INVALID_HEADER"],
  ["a header that is no byte string", "http://localhost/", { headers: [["a", "\u20AC"]] }, "INVALID_HEADER"],
  ["a body with GET", "http://localhost/", { method: "GET", body: "text" }, "INVALID_BODY"],
  ["a redirect mode that is none", "http://localhost/", { redirect: "perhaps" }, "INVALID_OPTION"],
];
for (const [what, url, init, code] of unusable) {
  test(`refused before anything is sent: ${what}`, async () => {
    const error = await failure(url, init);
    assert.equal(error.code, code);
    assert.ok(!error.message.includes("secret") || code !== "INVALID_URL", "the password is in the message");
  });
}

/** Returns the error of a request to a server, with its origin. */
async function met(
  server: Promise<Listening>,
  options: HttpClientOptions = {},
  host = "localhost",
  scheme = "https",
): Promise<HttpError> {
  const listening = await server;
  try {
    const origin = `${scheme}://${host}:${listening.port}`;
    const error = await failure(`${origin}/path?query`, {}, options);
    assert.equal(error.origin, origin);
    return error;
  } finally {
    await listening.close();
  }
}

test("nothing listens: CONNECTION_REFUSED", async () => {
  const { port, close } = await serveTcp(() => {});
  await close();
  for (const scheme of ["http", "https"]) {
    const error = await failure(`${scheme}://127.0.0.1:${port}/`);
    assert.equal(error.code, "CONNECTION_REFUSED");
    assert.equal(error.origin, `${scheme}://127.0.0.1:${port}`);
    assert.equal((error.cause as NodeJS.ErrnoException).code, "ECONNREFUSED");
  }
});

test("a name that is not known: DNS_FAILED", async () => {
  const error = await failure("https://no-such-host.invalid/", {}, { lookup: undefined });
  assert.equal(error.code, "DNS_FAILED");
  assert.equal(error.origin, "https://no-such-host.invalid");
});

test("a server that takes the connection and says nothing: CONNECT_TIMEOUT with TLS", async () => {
  const { code } = await met(serveTcp(() => {}), { connectTimeout: 50 });
  assert.equal(code, "CONNECT_TIMEOUT");
});

const { expired, notYetValid, selfSigned, incomplete, twoNames } = certificates;
for (
  const [what, certificate, code] of [
    ["expired", expired, "CERTIFICATE_EXPIRED"],
    ["is not valid yet", notYetValid, "CERTIFICATE_EXPIRED"],
    ["is for other names", twoNames, "CERTIFICATE_HOST_MISMATCH"],
    ["signed itself", selfSigned, "CERTIFICATE_UNTRUSTED"],
    ["came without its chain", incomplete, "CERTIFICATE_UNTRUSTED"],
  ] as const
) {
  test(`a certificate that ${what}: ${code}, and no request is sent`, async () => {
    let received = 0;
    const server = serveTls(certificate, (socket) => socket.on("data", (chunk) => received += chunk.length));
    assert.equal((await met(server)).code, code);
    assert.equal(received, 0);
  });
}

test("a server that asks for a client certificate: TLS_FAILED without one, in TLS 1.2 and 1.3", async () => {
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    const asking = { requestCert: true, rejectUnauthorized: true, ca: certificates.ca, maxVersion };
    const error = await met(serveTls(asking, () => {}));
    assert.equal(error.code, "TLS_FAILED");
    assert.match(error.message, /tls\.cert/);
  }
});

test("https: at a server of http: TLS_FAILED", async () => {
  const { code } = await met(serveTcp((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
  assert.equal(code, "TLS_FAILED");
});

const talks: readonly [what: string, talk: string, code: string][] = [
  ["no HTTP", "220 mail.test ESMTP\r\n\r\n", "PROTOCOL_ERROR"],
  ["a version that nobody knows", "HTTP/9.9 200 OK\r\n\r\n", "PROTOCOL_ERROR"],
  ["a status that is none", "HTTP/1.1 OK\r\n\r\n", "PROTOCOL_ERROR"],
  ["a header without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "PROTOCOL_ERROR"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "PROTOCOL_ERROR"],
  ["a chunk size that is none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "PROTOCOL_ERROR"],
  ["headers without an end", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`, "LIMIT_EXCEEDED"],
  ["an end before the body's", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "CONNECTION_LOST"],
  ["nothing", "", "CONNECTION_LOST"],
];
for (const [what, talk, code] of talks) {
  test(`a server that says ${what}: ${code}`, async () => {
    const answer = (
      socket: { once: (event: "data", told: () => void) => unknown; end: (text: string) => unknown },
    ): void => {
      socket.once("data", () => socket.end(talk));
    };
    assert.equal((await met(serveTcp(answer), {}, "localhost", "http")).code, code);
  });
}

test("a server that chooses h2 and does not speak it: PROTOCOL_ERROR", async () => {
  const server = serveTls({}, (socket) => socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\n\r\n")));
  assert.equal((await met(server)).code, "PROTOCOL_ERROR");
});

test("errors that come late, to whom it no longer concerns, are neither unhandled rejections nor uncaught exceptions", () => {
  const script = fileURLToPath(new URL("./late_errors.ts", import.meta.url));
  const deno = "deno" in process.versions ? ["run", "-A", "--no-check"] : [];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...deno, script], {
    encoding: "utf8",
    timeout: 30_000,
  });
  assert.equal(status, 0, stderr);
  const { unhandled, uncaught, outcomes } = JSON.parse(stdout) as {
    unhandled: string[];
    uncaught: string[];
    outcomes: Record<string, string>;
  };
  assert.deepEqual(unhandled, []);
  assert.deepEqual(uncaught, []);
  assert.deepEqual(outcomes, {
    "reset in the handshake": "CONNECTION_LOST",
    "reset at once": "CONNECTION_LOST",
    "reset after the headers, body never read": "200",
    "reset while the body is read": "CONNECTION_LOST",
    "reset of an idle connection": "200",
    "reset after destroy()": "CLIENT_CLOSED",
    "aborted while connecting, then reset": "given up",
    "aborted while it waits, then reset": "given up",
    "a request that nobody waits for": "nobody knows",
    "a body that breaks after the reset": "CONNECTION_LOST",
  });
});
