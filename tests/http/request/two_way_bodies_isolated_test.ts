import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo, type Server } from "node:net";
import { Duplex, PassThrough, type Readable } from "node:stream";
import { test } from "node:test";
import { HttpClient, type HttpRequestBody } from "../../../lib/http/mod.ts";
import { resolveOptions } from "../../../lib/http/http_client_options.ts";
import { readRequest } from "../../../lib/http/request/fetch_request.ts";

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const sent = (body: unknown): HttpRequestBody => body as HttpRequestBody;

type Answer = (body: Readable, respond: () => void) => void;

/** Servers that pass the received bytes to `answer`, with their clients; each resolves to the bytes its client received. */
const servers: Record<string, (answer: Answer) => Promise<string>> = {
  "node:net": async (answer) => {
    const server = net.createServer({ allowHalfOpen: true }, (socket) => answer(socket, () => socket.end("HTTP/ 502")));
    const client = net.connect(await listening(server), "127.0.0.1").setEncoding("latin1");
    client.write("abc");
    let text = "";
    for await (const chunk of client) text += chunk;
    server.close();
    return text;
  },
  "node:http": async (answer) => {
    const server = http.createServer((request, response) => answer(request, () => response.writeHead(502).end()));
    const request = http.request({ port: await listening(server), host: "127.0.0.1", method: "POST", agent: false });
    request.write("abc");
    const [response] = await once(request, "response") as [http.IncomingMessage];
    request.on("error", () => {}).destroy();
    server.close();
    return String(response.statusCode);
  },
  "node:http2": async (answer) => {
    const server = http2.createServer();
    server.on(
      "stream",
      (stream: http2.ServerHttp2Stream) => answer(stream, () => (stream.respond({ ":status": 502 }), stream.end())),
    );
    const session = http2.connect(`http://127.0.0.1:${await listening(server as unknown as Server)}`);
    const request = session.request({ ":method": "POST" });
    request.write("abc");
    const [{ ":status": status }] = await once(request, "response") as [http2.IncomingHttpHeaders];
    request.on("error", () => {}).close();
    session.destroy();
    server.close();
    return String(status);
  },
};

for (const [name, ask] of Object.entries(servers)) {
  for (const begun of [false, true]) {
    test(`what ${name} received is passed on, and the failure ${begun ? "while" : "before"} it is read can be answered`, async () => {
      const upstream = net.createServer((socket) => socket.on("error", () => {}).once("data", () => socket.destroy()));
      const port = await listening(upstream);
      if (!begun) await new Promise((resolve) => upstream.close(resolve));
      const client = new HttpClient({ retries: 0 });
      let failed: Promise<void> | undefined;
      const status = await ask((body, respond) => {
        const call = client.fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: sent(body) });
        failed = assert.rejects(call, { name: "HttpError" }).then(respond, respond);
      });
      await failed;
      assert.match(status, /502/);
      client.destroy();
      upstream.close();
    });
  }
}

const states = ["unread", "read", "waited for"] as const;

test("a Duplex outlives the call, in whichever state that fails; a Transform, which only makes the body, does not", async () => {
  const duplex = (): Duplex => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  for (const [make, outlives] of [[duplex, true], [() => new PassThrough(), false]] as const) {
    for (const state of states) {
      const stream = make();
      const options = resolveOptions({});
      const body = readRequest("http://a/", { method: "POST", body: sent(stream) }, options).body!.open();
      stream.push("a");
      if (state !== "unread") assert.equal((await body.read())?.[0], 97);
      const waiting = state === "waited for" ? body.read() : undefined;
      body.cancel(new Error("failed"));
      if (outlives) stream.push("b"); // ends the wait
      await waiting;
      if (!outlives && !stream.destroyed) await once(stream, "close");
      assert.equal(stream.destroyed, !outlives, state);
    }
  }
});
