/**
 * The servers of the upload page as they are written there, with their times a hundredth (on `Bun.serve`, which counts in
 * seconds, a tenth): who sends no whole header is cut, who uploads for longer is not.
 */
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { pathToFileURL } from "node:url";
import { readBlocks } from "../docs/blocks.ts";
import { root, runtime } from "../support/runtime.ts";
import { pause, until } from "../support/waits.ts";
import { canMakeCertificates, makeCertificate } from "../support/certificate.ts";
import { RawClient } from "./handler/raw_client.ts";

const PAGE = "lib/upload/README.md";
const folder = mkdtempSync(join(tmpdir(), "millrace-documented-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Modules that replace `node:http` and `node:http2`, and Bun's global, with ones in which time passes faster. */
const standIns: Readonly<Record<string, string>> = {
  "node:http": `
    import { createServer as create } from "node:http";
    import { scaled, started } from "./started.mjs";
    export const createServer = (options, listener) => started(create(
      { connectionsCheckingInterval: 300, ...scaled(options, 100, "requestTimeout", "headersTimeout") },
      listener,
    ));`,
  "node:http2": `
    import { createSecureServer as create } from "node:http2";
    import { started } from "./started.mjs";
    export function createSecureServer(options, listener) {
      const server = started(create(options, listener));
      const { setTimeout } = server;
      server.setTimeout = (ms) => setTimeout.call(server, ms / 100);
      return server;
    }`,
  "bun": `
    import { scaled } from "./started.mjs";
    export const Bun = { serve: (options) => globalThis.Bun.serve(scaled(options, 10, "idleTimeout")) };`,
};
const started = `
  export const servers = [];
  export function started(server) {
    servers.push(server);
    return server;
  }
  export function scaled(options, by, ...names) {
    const times = names.filter((name) => options[name] !== undefined).map((name) => [name, options[name] / by]);
    return { ...options, ...Object.fromEntries(times) };
  }`;
writeFileSync(join(folder, "started.mjs"), started);
for (const [name, code] of Object.entries(standIns)) writeFileSync(join(folder, fileOf(name)), code);

function fileOf(module: string): string {
  return `${module.replace(":", "_")}.mjs`;
}

interface Started {
  readonly port: number;
  close(): unknown;
}

let modules = 0;

/** Runs the code of a page, with the stand-ins in their places; gives the server that it starts. */
async function start(code: string): Promise<Started> {
  const upload = pathToFileURL(join(root, "lib/upload/mod.ts")).href;
  const path = join(folder, `example-${++modules}.ts`);
  const changed = code.replace(/"(node:http2?)"/g, (_, name) => JSON.stringify(`./${fileOf(name)}`))
    .replace('"@millrace/streams/upload"', JSON.stringify(upload))
    .replace('directory: "uploads"', `directory: ${JSON.stringify(join(folder, "uploads"))}, overwrite: true`)
    .replace(/\.listen\(8000\)/, '.listen(0, "127.0.0.1")');
  writeFileSync(path, changed);
  const example = await import(pathToFileURL(path).href) as {
    readonly server?: { port: number; stop(now: true): void };
  };
  if (example.server?.port) return { port: example.server.port, close: () => example.server!.stop(true) };
  const { servers } = await import(pathToFileURL(join(folder, "started.mjs")).href);
  const server = servers.at(-1) as import("node:http").Server;
  await until(() => server.listening, "the server listens");
  return {
    port: (server.address() as import("node:net").AddressInfo).port,
    close: () => {
      server.closeAllConnections?.();
      server.close();
    },
  };
}

/** The time limit for a server to cut a client whose header never ends, in ms. */
const MOST = 20_000;

/** Sends a part of a header, at once or byte by byte, and waits until the connection is cut. */
async function assertCut(open: () => Socket, begin: Uint8Array | string, rest: Uint8Array): Promise<void> {
  await Promise.all(["silent", "slow"].map(async (how) => {
    const socket = open();
    let isOver = false;
    socket.on("error", () => {}).on("close", () => isOver = true).on("end", () => isOver = true).resume();
    socket.write(begin);
    const end = performance.now() + MOST;
    for (let at = 0; !isOver; at++) {
      assert.ok(performance.now() < end, `a ${how} client still has its connection after ${MOST} ms`);
      if (how === "slow" && at < rest.length && socket.writable) socket.write(rest.subarray(at, at + 1));
      await pause(100);
    }
    socket.destroy();
  }));
}

const header = (method: string): string => `${method} /film.mp4 HTTP/1.1\r\nHost: a\r\nX-Long: `;
const letters = new Uint8Array(1000).fill(97);

/** Uploads for longer than a header may take. */
async function assertStored(port: number): Promise<void> {
  const client = await RawClient.open(port);
  client.ask("PUT", "/film.mp4", ["Content-Type: video/mp4", "Content-Length: 15"]);
  for (let i = 0; i < 15; i++) {
    client.send("a");
    await pause(100);
  }
  const { status, body } = await client.answer();
  client.close();
  assert.ok(status === 201 || status === 200, `${status} ${body}`);
}

const examples = [
  ...readBlocks([PAGE], root).filter(({ code }) => code.includes("createServer(")),
  ...readBlocks(["lib/upload/handler/create_upload_handler.ts"], root).filter(({ code }) =>
    code.includes("createServer(")
  ),
];

test("the page and the handler's comment have a server each", () => {
  assert.deepEqual(examples.map(({ path }) => path), [PAGE, "lib/upload/handler/create_upload_handler.ts"]);
});

for (const { path, line, code } of examples) {
  test(`the server at ${path}:${line} cuts a client that never ends its header, and not one that uploads`, async () => {
    const server = await start(code);
    try {
      await Promise.all([
        assertCut(() => connect(server.port, "127.0.0.1"), header("PUT"), letters),
        assertCut(() => connect(server.port, "127.0.0.1"), "", letters),
        assertStored(server.port),
      ]);
    } finally {
      server.close();
    }
  });
}

/** Returns the code of a row of the page's table of servers. */
function codeOfRow(name: string): string {
  const rows = readFileSync(join(root, PAGE), "utf8").split("\n").filter((line) => line.startsWith(`| \`${name}\``));
  assert.equal(rows.length, 1, name);
  return /\| `(.*?)`/.exec(rows[0].slice(rows[0].indexOf("|", 1)))![1];
}

const importing = 'import { createUploadHandler } from "@millrace/streams/upload";\n' +
  'const uploads = createUploadHandler({ directory: "uploads" });\n';

test("the row for node:http is the server of the page's first example", () => {
  assert.ok(examples[0].code.includes(`${codeOfRow("node:http")}.listen(8000);`));
});

test("the row for node:http2 cuts a client that never ends its header, and not one that uploads", {
  skip: runtime === "bun"
    ? "it is not for Bun, where it ends uploads under way too"
    : !canMakeCertificates && "no certificate can be made",
}, async () => {
  const { keyFile, certFile } = makeCertificate(folder);
  const server = await start(`
    import { readFileSync } from "node:fs";
    import { createSecureServer } from "node:http2";
    ${importing}
    const [key, cert] = ${JSON.stringify([keyFile, certFile])}.map((path) => readFileSync(path, "utf8"));
    ${codeOfRow("node:http2")}.listen(8000);`);
  const { port } = server;
  const open = (): Socket => connectTls({ port, host: "127.0.0.1", ALPNProtocols: ["h2"], rejectUnauthorized: false });
  const preface = Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0),
  ]);
  // HEADERS of 100 bytes, of which two come: ":method: POST" and ":scheme: http", over and over.
  const headers = Buffer.of(0, 0, 100, 1, 5, 0, 0, 0, 1, 0x83, 0x86);
  try {
    await Promise.all([
      assertCut(open, Buffer.concat([preface, headers]), new Uint8Array(50).fill(0x86)),
      assertCut(open, preface.subarray(0, 10), new Uint8Array()),
      assertStoredByHttp2(port),
    ]);
  } finally {
    server.close();
  }
});

async function assertStoredByHttp2(port: number): Promise<void> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const stream = session.request({ ":method": "PUT", ":path": "/film.mp4" });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    session.on("error", reject);
    stream.on("response", (fields) => resolve(fields[":status"])).on("error", reject);
  });
  stream.resume();
  for (let i = 0; i < 15; i++) {
    stream.write("a");
    await pause(100);
  }
  stream.end();
  assert.ok([200, 201].includes(await answered ?? 0));
  session.destroy();
}

test("the row for Bun.serve cuts a client that never ends its header, and not one that uploads", {
  skip: runtime !== "bun" && "it is for Bun",
}, async () => {
  const own = codeOfRow("Bun.serve").replace("Bun.serve({", 'Bun.serve({ hostname: "127.0.0.1", port: 0,');
  const code = `import { Bun } from "./${fileOf("bun")}";\n${importing}export const server = ${own};\n`;
  const server = await start(code);
  try {
    await Promise.all([
      assertCut(() => connect(server.port, "127.0.0.1"), header("PUT"), letters),
      assertStored(server.port),
    ]);
  } finally {
    server.close();
  }
});

test("no page or comment switches off the time of whole requests, and with it that of headers", () => {
  const paths = ["README.md", ...globSync("{lib,bench}/**/*.{md,ts}", { cwd: root })];
  const wrong = paths.filter((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return [...text.matchAll(/\{[^{}]*requestTimeout: 0\b[^{}]*\}/g)].some(([code]) =>
      !/headersTimeout: [1-9]/.test(code)
    );
  });
  assert.ok(paths.length > 100);
  assert.deepEqual(wrong, []);
});
