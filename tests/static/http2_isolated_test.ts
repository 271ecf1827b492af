import assert from "node:assert/strict";
import { mkdtemp, rm, truncate } from "node:fs/promises";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
} from "node:http2";
import { request as requestSecurely } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { gzipSync } from "node:zlib";
import { createStaticHandler, type StaticHandler } from "../../lib/static/mod.ts";
import { pause } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";
import { canMakeCertificates, type Certificate, makeCertificate } from "../support/certificate.ts";

const script = Buffer.from("console.log('the mill turns');\n".repeat(100));
const compressed = gzipSync(script);
const large = Buffer.alloc(3_000_000, "the content of a large file\n");

let folder = "";
let certificate: Certificate | undefined;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-http2-"));
  const files = { "app.js": script, "app.js.gz": compressed, "large.bin": large, "victim.bin": large };
  await writeTree(join(folder, "site"), files);
  if (canMakeCertificates) certificate = makeCertificate(folder);
});

after(() => rm(folder, { recursive: true, force: true }));

interface Scene {
  readonly session: ClientHttp2Session;
  readonly handler: StaticHandler;
  readonly port: number;
}

/** Serves by http2, in clear text or with the certificate. */
async function serving(isSecure: boolean, use: (scene: Scene) => Promise<void>): Promise<void> {
  const handler = await createStaticHandler(join(folder, "site"), { onWarning: () => {} });
  // The compatible side of http2 has requests and responses like those of http; the types do not know that.
  const listener = handler.node as unknown as Parameters<typeof createServer>[1];
  const server: Http2Server | Http2SecureServer = isSecure
    ? createSecureServer({ allowHTTP1: true, cert: certificate!.cert, key: certificate!.key }, listener)
    : createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const session = connect(`${isSecure ? "https" : "http"}://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on("error", () => {});
  try {
    await use({ session, handler, port });
  } finally {
    session.destroy();
    server.close();
    await handler.close();
  }
}

interface StreamAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly code: number;
}

/** Sends a request; `during` receives the stream with each chunk of the body. */
async function ask(
  session: ClientHttp2Session,
  path: string,
  fields: Readonly<Record<string, string>> = {},
  during: (stream: ClientHttp2Stream, received: number) => void = () => {},
): Promise<StreamAnswer> {
  const stream = session.request({ ":path": path, ...fields });
  let headers: IncomingHttpHeaders = {};
  const chunks: Buffer[] = [];
  let received = 0;
  stream.on("response", (fields) => headers = fields);
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    received += chunk.length;
    during(stream, received);
  });
  stream.end();
  await new Promise((resolve) => stream.on("close", resolve).on("error", resolve)); // that it is reset is an error
  return { headers, body: Buffer.concat(chunks), code: stream.rstCode ?? 0 };
}

const ways = [
  { name: "in clear text", isSecure: false, skip: false },
  { name: "over TLS", isSecure: true, skip: canMakeCertificates ? false : "there is no openssl to make a certificate" },
] as const;

for (const { name, isSecure, skip } of ways) {
  const way = `http2 ${name}`;

  test(
    `${way}: files are sent from memory and streamed, many at once`,
    { skip },
    () =>
      serving(isSecure, async ({ session }) => {
        const paths = Array.from({ length: 12 }, (_, i) => i % 2 ? "/app.js" : "/large.bin");
        const answers = await Promise.all(paths.map((path) => ask(session, path)));
        for (const [i, { headers, body, code }] of answers.entries()) {
          const content = i % 2 ? script : large;
          assert.equal(headers[":status"], 200);
          assert.equal(headers["content-length"], String(content.length));
          assert.ok(body.equals(content), `${paths[i]}: ${body.length} bytes`);
          assert.equal(code, 0);
        }
      }),
  );

  test(
    `${way}: codings, ranges, revalidation, HEAD and what is missing are answered as by http`,
    { skip },
    () =>
      serving(isSecure, async ({ session }) => {
        const coded = await ask(session, "/app.js", { "accept-encoding": "gzip" });
        assert.equal(coded.headers["content-encoding"], "gzip");
        assert.ok(coded.body.equals(compressed));
        const tag = String(coded.headers.etag);
        const known = await ask(session, "/app.js", { "accept-encoding": "gzip", "if-none-match": tag });
        assert.equal(known.headers[":status"], 304);
        assert.equal(known.headers.etag, tag);
        assert.equal(known.body.length, 0);
        const part = await ask(session, "/large.bin", { range: "bytes=1000-1999999" });
        assert.equal(part.headers[":status"], 206);
        assert.ok(part.body.equals(large.subarray(1000, 2_000_000)));
        for (const [path, length] of [["/app.js", script.length], ["/large.bin", large.length]] as const) {
          const head = await ask(session, path, { ":method": "HEAD" });
          assert.equal(head.headers[":status"], 200);
          assert.equal(head.headers["content-length"], String(length));
          assert.equal(head.body.length, 0);
        }
        assert.equal((await ask(session, "/missing")).headers[":status"], 404);
        assert.equal((await ask(session, "/app.js", { ":method": "POST" })).headers[":status"], 405);
        assert.equal((await ask(session, "/%zz")).headers[":status"], 400);
      }),
  );

  test(`${way}: a slow reader gets all of it, unmixed`, { skip }, () =>
    serving(isSecure, async ({ session }) => {
      const slowly = (stream: ClientHttp2Stream): void => {
        if (Math.random() > 0.1) return;
        stream.pause();
        setTimeout(() => stream.resume(), 20);
      };
      const answers = await Promise.all(Array.from({ length: 3 }, () => ask(session, "/large.bin", {}, slowly)));
      for (const { body } of answers) assert.ok(body.equals(large));
    }));

  test(
    `${way}: streams that are reset in the middle keep nothing open`,
    { skip },
    () =>
      serving(isSecure, async ({ session, handler }) => {
        const leaving = (stream: ClientHttp2Stream, received: number): void => {
          if (received > 100_000) stream.close(8); // CANCEL
        };
        await Promise.all(Array.from({ length: 6 }, () => ask(session, "/large.bin", {}, leaving)));
        assert.ok((await ask(session, "/large.bin")).body.equals(large), "another stream of the session");
        await handler.close(); // would wait for what is still being sent
      }),
  );
}

test("http2: what is being sent of a file that is truncated is reset with an error", () =>
  serving(false, async ({ session }) => {
    const truncating = (stream: ClientHttp2Stream, received: number): void => {
      if (received > 20_000 && !stream.isPaused()) {
        stream.pause();
        void truncate(join(folder, "site/victim.bin"), 1000).then(() => pause(50)).then(() => stream.resume());
      }
    };
    const { body, code } = await ask(session, "/victim.bin", {}, truncating);
    assert.ok(body.length < large.length);
    assert.equal(code, 2); // INTERNAL_ERROR
    assert.ok((await ask(session, "/app.js")).body.equals(script), "another stream of the session");
  }));

test(
  "a server of http2 that also speaks http answers such clients too",
  { skip: ways[1].skip },
  () =>
    serving(true, async ({ port }) => {
      for (const [path, content] of [["/app.js", script], ["/large.bin", large]] as const) {
        const options = {
          host: "127.0.0.1",
          port,
          path,
          rejectUnauthorized: false,
          agent: false,
          ALPNProtocols: ["http/1.1"],
        };
        const [response] = await once(requestSecurely(options).end(), "response");
        assert.equal(response.httpVersion, "1.1");
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        assert.ok(Buffer.concat(chunks).equals(content), path);
      }
    }),
);
