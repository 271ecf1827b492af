/**
 * A server for the web platform tests of fetch: `server.ts ROOT`. Prints its two ports, and ends with its input. Plays the suite's
 * own handlers (`*.py`) as far as its tests ask for them; everything else is a file.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";

/** A request as a handler sees it. */
interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

const root = process.argv[2]!;
/** Values that one request stores for another, by key. */
const stash = new Map<string, unknown>();
const noSniff = { "content-type": "text/plain" };

function take(key: string | null): unknown {
  const value = stash.get(key ?? "") ?? null;
  stash.delete(key ?? "");
  return value;
}

function allowed({ request }: Call): Record<string, string> {
  const { origin } = request.headers;
  if (origin === undefined) return { "access-control-allow-origin": "*" };
  return { "access-control-allow-origin": origin, "access-control-allow-credentials": "true" };
}

/** Sends bytes to the socket, bypassing the HTTP server. */
function raw({ response }: Call, bytes: string | Uint8Array): void {
  response.socket!.end(bytes);
}

function bad(coding: string): (call: Call) => void {
  return ({ response }) => void response.setHeader("content-encoding", coding).end(`not actually ${coding}`);
}

const handlers: Readonly<Record<string, (call: Call) => void | Promise<void>>> = {
  async "trickle.py"({ response, query }) {
    const ms = Number(query.get("ms") ?? 500);
    await pause(ms);
    response.writeHead(200, query.has("notype") ? {} : noSniff).flushHeaders();
    for (let left = Number(query.get("count") ?? 50); left > 0; left--) {
      await pause(ms);
      response.write("TEST_TRICKLE\n");
    }
    response.end();
  },
  async "infinite-slow-response.py"({ response, query }) {
    const [state, abort] = [query.get("stateKey"), query.get("abortKey")];
    if (state) stash.set(state, "open");
    response.writeHead(200, noSniff).write(".".repeat(2048));
    let isOpen = true;
    response.on("close", () => isOpen = false);
    while (isOpen && !(abort && take(abort))) {
      response.write(".");
      await pause(10);
    }
    if (state) stash.set(state, "closed");
    response.end();
  },
  "stash-take.py": (call) =>
    void call.response.writeHead(200, { "content-type": "application/json", "access-control-allow-origin": "*" })
      .end(JSON.stringify(take(call.query.get("key")))),
  "stash-put.py": ({ response, query }) => {
    stash.set(query.get("key")!, query.get("value"));
    response.setHeader("access-control-allow-origin", "*").end("done");
  },
  "clean-stash.py": ({ response, query }) => void response.end(take(query.get("token")) === null ? "0" : "1"),
  "echo-content.py": ({ request, response, body }) =>
    void response.writeHead(200, {
      ...noSniff,
      "x-request-method": request.method!,
      "x-request-content-length": request.headers["content-length"] ?? "NO",
      "x-request-content-type": request.headers["content-type"] ?? "NO",
    }).end(body),
  "method.py": (call) => {
    const { headers, method } = call.request;
    call.response.writeHead(200, {
      ...(call.query.has("cors") ? { ...allowed(call), "access-control-expose-headers": "x-request-method" } : {}),
      "x-request-method": method!,
      ...Object.fromEntries(
        ["type", "length", "encoding", "language", "location"]
          .map((name) => [`x-request-content-${name}`, headers[`content-${name}`] ?? "NO"]),
      ),
    }).end(call.body);
  },
  "cache.py": ({ request, response }) => {
    if (request.headers["if-none-match"] === '"123abc"') {
      return void response.writeHead(304, { "x-http-status": "304" }).end();
    }
    response.writeHead(200, { ...noSniff, etag: '"123abc"' }).end("lorem ipsum dolor sit amet");
  },
  "status.py": ({ request, response, query }) =>
    void response.writeHead(Number(query.get("code") ?? 200), query.get("text") ?? "OMG", {
      "content-type": query.get("type") ?? "",
      "x-request-method": request.method!,
    }).end(query.get("content") ?? ""),
  "inspect-headers.py": (call) => {
    const names = (call.query.get("headers") ?? "").split("|").filter((name) => name !== "");
    const seen = names.filter((name) => name.toLowerCase() in call.request.headers)
      .map((name) => [`x-request-${name}`, call.request.headers[name.toLowerCase()]!]);
    const cors = call.query.has("cors")
      ? { ...allowed(call), "access-control-expose-headers": names.map((name) => `x-request-${name}`).join(", ") }
      : {};
    call.response.writeHead(200, { ...cors, ...noSniff, ...Object.fromEntries(seen) }).end();
  },
  async "bad-chunk-encoding.py"(call) {
    const { socket } = call.response;
    const ms = Number(call.query.get("ms") ?? 1000);
    await pause(ms);
    socket!.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    await pause(ms);
    for (let left = Number(call.query.get("count") ?? 50); left > 0; left--) {
      socket!.write("a\r\nTEST_CHUNK\r\n");
      await pause(ms);
    }
    socket!.end("garbage");
  },
  async "huge-response.py"({ response }) {
    const size = 8 * 2 ** 30;
    response.writeHead(200, { ...noSniff, "content-length": size });
    const chunk = new Uint8Array(2 ** 20);
    for (let sent = 0; sent < size && !response.destroyed; sent += chunk.length) {
      if (!response.write(chunk)) {
        await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
      }
    }
    response.end();
  },
  async "redirect.py"(call) {
    const { request, response, query } = call;
    const token = query.get("token");
    const data = (token === null ? null : take(token) as { count: number } | null) ?? { count: 0 };
    if (request.method === "OPTIONS" && !query.has("redirect_preflight")) {
      if (token !== null) stash.set(token, data);
      const names = query.get("allow_headers");
      return void response.writeHead(200, {
        ...allowed(call),
        ...(names ? { "access-control-allow-headers": names } : {}),
      }).end();
    }
    data.count++;
    const headers: Record<string, string> = { ...noSniff, ...allowed(call) };
    let url = query.get("location");
    if (url !== null) {
      if (!query.has("simple") && !/^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(url)) {
        url += `${url.includes("?") ? "&" : "?"}${new URLSearchParams([...query])}&count=${data.count}`;
      }
      // Latin-1, as the suite's server writes it.
      headers.location = Buffer.from(url).toString("latin1");
    }
    if (query.has("delay")) await pause(Number(query.get("delay")));
    if (token !== null) {
      stash.set(token, data);
      if (query.has("max_count") && data.count > Number(query.get("max_count"))) {
        return void response.end(String(data.count - 1));
      }
    }
    response.writeHead(Number(query.get("redirect_status") ?? 302), headers).end();
  },
  "redirect-empty-location.py": ({ response }) => void response.writeHead(302, { location: "" }).end(),
  "dump-authorization-header.py": (call) =>
    void call.response.writeHead(200, { "content-type": "text/html", ...allowed(call) })
      .end(call.request.headers.authorization ?? "none"),
  "authentication.py": ({ request, response, query }) => {
    if (request.headers.authorization === `Basic ${btoa("user:password")}`) {
      return void response.end("Authentication done");
    }
    const realm = query.get("realm") ?? "test";
    response.writeHead(401, { "www-authenticate": `Basic realm="${realm}"` }).end("Please login");
  },
  "echo-headers.py": ({ request, response }) => {
    const lines = request.rawHeaders.flatMap((text, i, all) => i % 2 === 0 ? [`${text}: ${all[i + 1]}\n`] : []);
    response.writeHead(200, noSniff).end(lines.join(""));
  },
  "message.py": (call) => raw(call, call.query.get("message")!),
  "status-code.py": (call) => raw(call, `HTTP/1.1 ${call.query.get("input")}\nheader-parsing: is sad\n`),
  "bad-gzip-body.py": bad("gzip"),
  "bad-br-body.py": bad("br"),
  "bad-zstd-body.py": bad("zstd"),
};

/** Returns the fields of a file's `.headers`, and those that `?pipe=header(name,value)` asks for. */
function fieldsOf(path: string, query: URLSearchParams): [string, string][] {
  const lines = existsSync(`${path}.headers`) ? readFileSync(`${path}.headers`, "latin1").split(/\r?\n/) : [];
  const fields = lines.map((line): [string, string] => [line.split(":")[0]!, line.slice(line.indexOf(":") + 1).trim()]);
  const piped = [...(query.get("pipe") ?? "").matchAll(/header\(([^,]+),\s*((?:[^)\\]|\\.)*)/g)]
    .map(([, name, value]): [string, string] => [name!, value!.replace(/,\s*True$/i, "").replace(/\\(.)/g, "$1")]);
  return [...fields, ...piped].filter(([name]) => name !== "");
}

function sendFile(call: Call, pathname: string): void {
  const path = join(root, normalize(pathname));
  if (!existsSync(path) || pathname.endsWith("/")) return void call.response.writeHead(404).end("not here");
  if (path.endsWith(".asis")) return raw(call, readFileSync(path));
  for (const [name, value] of fieldsOf(path, call.query)) call.response.appendHeader(name, value);
  const status = /status\((\d+)\)/.exec(call.query.get("pipe") ?? "");
  call.response.writeHead(Number(status?.[1] ?? 200)).end(readFileSync(path));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url!, "http://localhost");
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const call: Call = { request, response, query, body: Buffer.concat(chunks) };
  const handler = handlers[pathname.split("/").at(-1)!];
  await (handler === undefined ? sendFile(call, decodeURIComponent(pathname)) : handler(call));
}

const ports: number[] = [];
for (let count = 0; count < 2; count++) {
  // Connections stay open: one that is closed for being idle while a busy client sends a POST fails that, by right.
  const server = createServer({ joinDuplicateHeaders: true, keepAliveTimeout: 0 }, (request, response) => {
    response.on("error", () => {}); // clients under test leave as they like
    answer(request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ports.push((server.address() as AddressInfo).port);
}
console.log(ports.join(" "));
process.stdin.resume().on("end", () => process.exit());
