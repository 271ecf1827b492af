import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { httpClientOptions, resolveOptions } from "../../../lib/http/http_client_options.ts";
import { type FetchRequest, readRequest, requestOptions } from "../../../lib/http/request/fetch_request.ts";
import type { HttpRequestInit } from "../../../lib/http/http_request.ts";
import { HttpError, type HttpErrorCode } from "../../../lib/http/http_error.ts";
import { ReadableStream as OwnReadableStream } from "../../../lib/streams/mod.ts";
import { codePoint } from "../../support/code_point.ts";

const DEFAULTS = ["accept", "*/*", "accept-encoding", "zstd, br, gzip", "user-agent", "millrace"];

function read(input: string | URL | Request, init?: HttpRequestInit): FetchRequest {
  return readRequest(input, init, resolveOptions({ decompress: true }));
}

/** Returns the fields that a request was given, without those that are added. */
function given(init: HttpRequestInit): string[] {
  const { headers } = read("http://example.com/", init);
  assert.deepEqual(headers.slice(-DEFAULTS.length), DEFAULTS);
  return headers.slice(0, -DEFAULTS.length);
}

function refuses(code: HttpErrorCode, words: RegExp, input: string | URL | Request, init?: HttpRequestInit): void {
  assert.throws(() => read(input, init), (error) => {
    assert.ok(error instanceof HttpError && error instanceof TypeError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, words);
    assert.ok(error.cause instanceof Error);
    return true;
  });
}

test("a URL alone is a GET with the defaults", () => {
  const request = read("https://example.com:8443/a b?c=d#e");
  assert.equal(request.method, "GET");
  assert.equal(request.url.href, "https://example.com:8443/a%20b?c=d#e");
  assert.equal(request.origin, "https://example.com:8443");
  assert.equal(request.scheme, "https");
  assert.equal(request.authority, "example.com:8443");
  assert.equal(request.path, "/a%20b?c=d");
  assert.deepEqual(request.headers, DEFAULTS);
  assert.equal(request.body, undefined);
  assert.equal(request.redirect, "follow");
  assert.equal(request.signal, undefined);
  assert.equal(request.idempotent, true);
  assert.equal(request.integrity, "");
  assert.equal(request.limits.headersTimeout, resolveOptions({}).headersTimeout);
});

test("the parts of a URL are those that the URL class gives", () => {
  // fc.webUrl() encodes each character of Unicode first, in two seconds of a processor.
  const character = fc.constantFrom(..."aZ0-._~!$&'()*+,;=:@");
  const encoded = fc.string({ unit: codePoint, maxLength: 2 }).map(encodeURIComponent);
  const part = fc.array(fc.oneof(character, encoded)).map((parts) => parts.join(""));
  const scheme = fc.constantFrom("http", "https", "HTTPS");
  const urls = fc.tuple(scheme, fc.webAuthority(), fc.array(part), fc.option(part), fc.option(part))
    .map(([scheme, authority, path, query, fragment]) => {
      const url = `${scheme}://${authority}${path.map((part) => `/${part}`).join("")}`;
      return `${url}${query === null ? "" : `?${query}`}${fragment === null ? "" : `#${fragment}`}`;
    });
  fc.assert(
    fc.property(urls, (text) => {
      const url = new URL(text);
      for (let round = 0; round < 2; round++) {
        const request = read(text);
        assert.equal(request.origin, url.origin);
        assert.equal(request.authority, url.host);
        assert.equal(`${request.scheme}:`, url.protocol);
        assert.equal(request.origin + request.path, url.href.split("#")[0]);
      }
    }),
    { numRuns: 30 },
  );
});

test("a URL without a path, with a query or a fragment alone, has the path /", () => {
  assert.equal(read("http://example.com").path, "/");
  assert.equal(read("http://example.com?a/b").path, "/?a/b");
  assert.equal(read("http://example.com#a/b@c").path, "/");
  assert.equal(read("http://[::1]:80/x").authority, "[::1]");
  assert.equal(read("http://EXAMPLE.com:80/x?y@z").authority, "example.com");
  assert.equal(read(new URL("https://example.com:443/")).origin, "https://example.com");
});

test("URLs that cannot be fetched are refused", () => {
  refuses("INVALID_URL", /no absolute URL/, "/path");
  refuses("INVALID_URL", /no absolute URL/, "");
  refuses("INVALID_URL", /no absolute URL/, "http://");
  refuses("INVALID_URL", /http: or https:/, "ftp://example.com/");
  refuses("INVALID_URL", /http: or https:/, "data:,x");
  refuses("INVALID_URL", /http: or https:/, "httpsx://example.com/");
  refuses("INVALID_URL", /port 0/, "http://example.com:0/");
  refuses("INVALID_URL", /user name or password/, "http://me:secret@example.com/");
  refuses("INVALID_URL", /user name or password/, "http://me@example.com/");
  assert.throws(() => read("http://me:secret@example.com/"), (error: Error) => !error.message.includes("secret"));
});

test("the value of a field that cannot be sent is in no message", () => {
  for (const value of ["s3cret\0", "\u{feff}s3cret", "s3\ncret", "s3cret€"]) {
    assert.throws(() => read("http://example.com/", { headers: [["authorization", value]] }), (error: Error) => {
      return !/s3|cret/.test(error.message) && error.message.includes("authorization");
    });
  }
});

test("methods are normalised as fetch does, and those it forbids are refused", () => {
  for (const method of ["delete", "get", "Head", "oPTIONS", "post", "put"]) {
    assert.equal(read("http://a/", { method }).method, method.toUpperCase());
  }
  for (const method of ["patch", "PATCH", "Propfind", "!#$%&'*+-.^_`|~9"]) {
    assert.equal(read("http://a/", { method }).method, method);
  }
  for (const method of ["CONNECT", "trace", "Track"]) refuses("INVALID_METHOD", /forbids/, "http://a/", { method });
  for (const method of ["", "G T", "GET\n", "é", "a/b"]) refuses("INVALID_METHOD", /no token/, "http://a/", { method });
});

test("idempotent methods may be sent twice, unless told otherwise", () => {
  for (const method of ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]) {
    assert.equal(read("http://a/", { method }).idempotent, true);
  }
  for (const method of ["POST", "PATCH", "PROPFIND"]) assert.equal(read("http://a/", { method }).idempotent, false);
  assert.equal(read("http://a/", { method: "POST", idempotent: true }).idempotent, true);
  assert.equal(read("http://a/", { idempotent: false }).idempotent, false);
});

test("headers come as an object, as pairs, as Headers or as any iterable, in their order", () => {
  assert.deepEqual(given({ headers: { "X-B": "1", "x-a": " 2\t" } }), ["x-b", "1", "x-a", "2"]);
  assert.deepEqual(given({ headers: [["X-B", "1"], ["x-a", "2"], ["x-b", "3"]] }), [
    "x-b",
    "1",
    "x-a",
    "2",
    "x-b",
    "3",
  ]);
  assert.deepEqual(given({ headers: new Map([["X-B", "1"]]) }), ["x-b", "1"]);
  assert.deepEqual(given({ headers: new Headers({ b: "1", a: "2" }) }), ["a", "2", "b", "1"]);
  const cookies = new Headers([["set-cookie", "a=1"], ["set-cookie", "b=2"]]);
  assert.deepEqual(given({ headers: cookies }), ["set-cookie", "a=1", "set-cookie", "b=2"]);
  function* pairs(): Generator<[string, string]> {
    yield ["x", "1"];
  }
  assert.deepEqual(given({ headers: pairs() }), ["x", "1"]);
  assert.deepEqual(given({ headers: { "x-number": 5 as unknown as string, "x-empty": "" } }), [
    "x-number",
    "5",
    "x-empty",
    "",
  ]);
});

test("what a request says rules over the defaults", () => {
  const { headers } = read("http://a/", {
    headers: { Accept: "text/html", "Accept-Encoding": "br", "User-Agent": "me/1" },
  });
  assert.deepEqual(headers, ["accept", "text/html", "accept-encoding", "br", "user-agent", "me/1"]);
  const plain = readRequest("http://a/", undefined, resolveOptions({ decompress: false }));
  assert.deepEqual(plain.headers, ["accept", "*/*", "user-agent", "millrace"]);
});

test("a range is asked for of the content as it is", () => {
  const { headers } = read("http://a/", { headers: { range: "bytes=0-9" } });
  assert.deepEqual(headers.slice(0, 6), ["range", "bytes=0-9", "accept", "*/*", "accept-encoding", "identity"]);
});

test("fields of the connection are dropped, and those that Connection names", () => {
  const headers = {
    connection: "close, X-Mine , x-other",
    "keep-alive": "timeout=5",
    "proxy-connection": "keep-alive",
    "transfer-encoding": "chunked",
    upgrade: "websocket",
    "http2-settings": "AAMAAABkAAQAAP__",
    te: "gzip",
    "x-mine": "1",
    "x-kept": "2",
    "X-Other": "3",
  };
  assert.deepEqual(given({ headers }), ["x-kept", "2"]);
  assert.deepEqual(given({ headers: { te: "Trailers" } }), ["te", "trailers"]);
  assert.deepEqual(given({ headers: [["TE", "gzip, trailers"], ["te", "trailers"]] }), ["te", "trailers"]);
});

test("the header host has to be that of the URL, and is left out of the list", () => {
  const right: [url: string, host: string][] = [
    ["http://example.com/", "example.com"],
    ["http://example.com/", "Example.COM:80"],
    ["https://example.com/", "example.com:443"],
    ["http://127.0.0.1:8080/", "127.0.0.1:8080"],
    ["http://[::1]:81/", "[::1]:81"],
  ];
  for (const [url, host] of right) {
    const request = read(url, { headers: { Host: host } });
    assert.equal(request.authority, new URL(url).host);
    assert.deepEqual(request.headers, DEFAULTS);
  }
  const wrong = ["", "a b", "a/b", "a\tb", "é", "me@a", "a?b", 'a"b', "b", "a.b", "a:81", "a:443", "a:80:80", "a, a"];
  for (const host of wrong) {
    refuses("INVALID_HEADER", /host .*leave it out/, "http://a/", { headers: { host } });
  }
  refuses("INVALID_HEADER", /host/, "http://a/", { headers: [["host", "a"], ["Host", "b"]] });
});

test("the header host of a Request is dropped: a server's request has that of the server", () => {
  const incoming = new Request("http://proxy.example/x", { headers: { host: "proxy.example", "x-a": "1" } });
  const request = read(new Request("http://b.example/x", incoming));
  assert.equal(request.authority, "b.example");
  assert.deepEqual(request.headers, ["x-a", "1", ...DEFAULTS]);
  refuses("INVALID_HEADER", /host/, incoming, { headers: new Headers({ host: "b.example" }) });
});

test("transfer-encoding says no more than that the body comes in chunks, or is refused", () => {
  const post = (value: string): FetchRequest =>
    read("http://a/", { method: "POST", body: "x", headers: { "transfer-encoding": value } });
  for (const value of ["chunked", "Chunked", " chunked "]) {
    assert.ok(!post(value).headers.includes("transfer-encoding"));
    assert.equal(post(value).body!.length, 1);
  }
  for (const value of ["gzip", "gzip, chunked", "identity", "chunked, chunked", "", "xchunked", "chunked;q=1"]) {
    assert.throws(() => post(value), { code: "INVALID_HEADER", message: /transfer-encoding .*leave it out/ }, value);
  }
});

test("no field changes where a request goes, or how its body is framed", () => {
  const name = fc.constantFrom("host", "Host", "transfer-encoding", "content-length", "Content-Length", "connection");
  const part = fc.constantFrom(
    "a",
    "b",
    ":80",
    ":81",
    "4",
    "0",
    "chunked",
    "gzip",
    ",",
    " ",
    "\t",
    "close",
    "host",
    "@",
  );
  const value = fc.array(part, { maxLength: 3 }).map((parts) => parts.join(""));
  fc.assert(fc.property(fc.array(fc.tuple(name, value), { maxLength: 3 }), fc.boolean(), (headers, isRequest) => {
    const init = { method: "POST", body: "four", headers };
    let request: FetchRequest;
    try {
      request = isRequest ? read(new Request("http://a/", init)) : read("http://a/", init);
    } catch (error) {
      assert.equal((error as HttpError).code, "INVALID_HEADER");
      return;
    }
    assert.equal(request.authority, "a");
    assert.equal(request.origin, "http://a");
    for (const [name] of headers) assert.ok(!request.headers.includes(name.toLowerCase()));
    const lengths = headers.filter(([name]) => name.toLowerCase() === "content-length");
    if (!isRequest) { for (const [, length] of lengths) assert.equal(Number(length), 4); } // a stream fails when it is sent
  }));
});

test("several cookies are one field", () => {
  assert.deepEqual(given({ headers: [["cookie", "a=1"], ["x", "y"], ["Cookie", "b=2"]] }), [
    "cookie",
    "a=1; b=2",
    "x",
    "y",
  ]);
});

test("cookies that were appended to Headers are one field, as in a Cookie header, whatever is in their values", () => {
  for (const values of [["a=1"], ["a=1", "b=2"], ["a=1, c", "b=2,d", "e=3"]]) {
    const headers = new Headers({ x: "y" });
    for (const value of values) headers.append("Cookie", value);
    const list = given({ headers });
    assert.equal(list[list.indexOf("cookie") + 1], values.join("; "));
  }
});

test("names and values that cannot be sent are refused", () => {
  for (const name of ["", " ", "a b", "a:", ":path", "é", "a\n", "a\0"]) {
    refuses("INVALID_HEADER", /no token/, "http://a/", { headers: { [name]: "x" } });
  }
  const controls = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((it) => it !== "\t");
  const inner = [...controls, "\x7f"].map((control) => `a${control}b`);
  for (const value of [...inner, "a\r\nb: c", "a\0", "\0", "\x01", "a\x1b", "ā", "日本", "\ud83d\ude00"]) {
    refuses("INVALID_HEADER", /x-name/, "http://a/", { headers: { "X-Name": value } });
  }
  assert.deepEqual(given({ headers: { x: "\r\n é\u00ff a\tb\x80\n" } }), ["x", "é\u00ff a\tb\x80"]);
  assert.deepEqual(given({ headers: { then: "x" } }), ["then", "x"]);
  const empty = [Promise.resolve({ a: "b" }), new Date(), new WeakMap(), new ArrayBuffer(1)]; // they have no members
  for (const headers of ["a", 5, [["a"]], [["a", "b", "c"]], ["ab"], [5], ...empty]) {
    refuses("INVALID_HEADER", /header/, "http://a/", { headers: headers as unknown as HeadersInit });
  }
});

test("what is accepted of headers is what the runtime's own Headers accept, but for control characters", () => {
  const unit = fc.integer({ min: 0, max: 0x130 }).map((code) => String.fromCharCode(code));
  fc.assert(fc.property(fc.string({ unit, maxLength: 6 }), fc.string({ unit, maxLength: 6 }), (name, value) => {
    let native: [string, string] | undefined;
    try {
      native = [...new Headers([[name, value]])][0];
    } catch {
      // it is refused
    }
    // https://www.rfc-editor.org/rfc/rfc9110#section-5.5: as the runtimes, which refuse them when they send
    const isRefused = native === undefined || !/^[\t -~\x80-\xff]*$/.test(native[1]);
    if (isRefused) refuses("INVALID_HEADER", /header/, "http://a/", { headers: [[name, value]] });
    else assert.deepEqual(given({ headers: [[name, value]] }), native!);
  }));
});

test("a Request is taken over, and init rules over it", () => {
  const controller = new AbortController();
  const request = new Request("http://example.com/a?b", {
    method: "PUT",
    headers: { "x-a": "1" },
    body: new Blob(["text"], { type: "text/x" }),
    redirect: "manual",
    signal: controller.signal,
  });
  const taken = read(request);
  assert.equal(taken.method, "PUT");
  assert.equal(taken.path, "/a?b");
  assert.equal(taken.headers[taken.headers.indexOf("x-a") + 1], "1");
  assert.equal(taken.headers[taken.headers.indexOf("content-type") + 1], "text/x");
  assert.equal(taken.redirect, "manual");
  assert.equal(taken.body!.replayable, false);
  controller.abort();
  assert.equal(taken.signal!.aborted, true);
  const another = new Request("http://example.com/a?b", { headers: { "x-a": "1" } });
  const other = read(another, {
    method: "DELETE",
    headers: { "x-b": "2" },
    body: null,
    redirect: "error",
    signal: null,
  });
  assert.equal(other.method, "DELETE");
  assert.equal(other.headers.includes("x-a"), false);
  assert.equal(other.redirect, "error");
  assert.equal(other.signal, undefined);
});

test("a Request whose body was read is refused", async () => {
  const request = new Request("http://a/", { method: "POST", body: "text" });
  await request.text();
  refuses("INVALID_BODY", /read already/, request);
});

test("a Request as init gives its members, as with fetch", () => {
  const { method, headers } = read(
    "http://b/",
    new Request("http://a/", { method: "DELETE", headers: { "x-a": "1" } }) as HttpRequestInit,
  );
  assert.equal(method, "DELETE");
  assert.equal(headers[0], "x-a");
});

test("options are checked", () => {
  refuses("INVALID_OPTION", /redirect must be "follow", "manual" or "error", not "never"/, "http://a/", {
    redirect: "never" as "follow",
  });
  refuses("INVALID_OPTION", /duplex must be "half" or "full", not "double"/, "http://a/", {
    duplex: "double" as "half",
  });
  refuses("INVALID_OPTION", /headersTimeout -1/, "http://a/", { headersTimeout: -1 });
  refuses("INVALID_OPTION", /bodyTimeout/, "http://a/", { bodyTimeout: "5" as unknown as number });
  refuses("INVALID_OPTION", /signal/, "http://a/", { signal: {} as AbortSignal });
  refuses("INVALID_OPTION", /init/, "http://a/", 5 as HttpRequestInit);
  const request = read("http://a/", {
    headersTimeout: 5,
    bodyTimeout: 0,
    duplex: "full",
    mode: "cors",
    cache: "no-store",
  });
  assert.equal(request.limits.headersTimeout, 5);
  assert.equal(request.limits.bodyTimeout, 0);
});

test("options of the client alone are refused in init; members that nobody knows are ignored, as by fetch", () => {
  const own = Object.keys(httpClientOptions.members).filter((name) => !(name in requestOptions.members));
  assert.ok(own.includes("proxy") && own.includes("allowAddress") && own.includes("tls"));
  for (const name of own) {
    for (const value of [false, "public", { ca: "x" }]) {
      refuses("INVALID_OPTION", new RegExp(`${name} is an option of HttpClient`), "http://a/", { [name]: value });
    }
    assert.equal(read("http://a/", { [name]: undefined }).method, "GET");
  }
  const others = { metod: "POST", agent: {}, next: { revalidate: 60 }, cf: {}, constructor: 1 };
  assert.equal(read("http://a/", others as HttpRequestInit).method, "GET");
});

test("a misspelt option of a request is refused; other inits of fetch, such as a Request, are not", () => {
  for (
    const [name, meant] of [["timout", "timeout"], ["retires", "retries"], ["onUploadProgres", "onUploadProgress"]]
  ) {
    const words = new RegExp(`unknown option ${name}: did you mean ${meant}`);
    refuses("INVALID_OPTION", words, "http://a/", { [name]: 5 } as HttpRequestInit);
    assert.equal(read("http://a/", { [name]: undefined } as HttpRequestInit).method, "GET");
  }
  assert.equal(read("http://a/", new Request("http://b/", { method: "PUT" }) as HttpRequestInit).method, "PUT");
  const names = "body cache client credentials dispatcher headers integrity keepalive method mode priority referrer " +
    "referrerPolicy signal tls unix verbose window";
  for (const name of names.split(" ").filter((name) => !(name in httpClientOptions.members))) {
    assert.equal(read("http://a/", { [name]: null } as HttpRequestInit).method, "GET", name);
  }
});

test("GET and HEAD have no body", () => {
  refuses("INVALID_BODY", /GET/, "http://a/", { body: "x" });
  refuses("INVALID_BODY", /HEAD/, "http://a/", { method: "head", body: new Uint8Array(1) });
  assert.equal(read("http://a/", { body: null }).body, undefined);
  assert.equal(read("http://a/", { body: undefined }).body, undefined);
  assert.equal(read("http://a/", { method: "POST", body: "" }).body!.length, 0);
});

test("content-length is dropped if it is so, rules over a stream of unknown length, and is refused otherwise", () => {
  const post = (body: HttpRequestInit["body"], length: string) =>
    read("http://a/", { method: "POST", body, headers: { "Content-Length": length } });
  assert.equal(post("four", "4").headers.includes("content-length"), false);
  assert.equal(post(null, "0").body, undefined);
  assert.equal(post(new OwnReadableStream(), "7").body!.length, 7);
  assert.equal(post(new ReadableStream(), "7").body!.length, 7);
  for (const length of ["5", "-1", "4.0", "0x4", "4, 4", "", "99999999999999999999"]) {
    assert.throws(() => post("four", length), { code: "INVALID_HEADER" });
  }
  assert.throws(() => post(null, "4"), { code: "INVALID_HEADER" });
  refuses("INVALID_HEADER", /content-length/, "http://a/", {
    headers: [["content-length", "0"], ["content-length", "1"]],
  });
});
