/**
 * Measures the delay between sending and reading of one event a second: server-sent events and JSON lines, uncompressed
 * and in each coding. They pass through Express, Hono, `node:http2`, the runtime's own server, and Chromium's
 * EventSource.
 *
 *   npm run bench -- event_delay [--events 20]
 *
 * The server is a process on the runtime measured. Clients decode with `node:zlib` of Node. A full run is written to
 * results/.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import { noChromium, openBrowser } from "../tests/e2e/chromium.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({ options: { events: { type: "string", default: "20" } } });
const EVENTS = Number(values.events);
const CODINGS = ["identity", "gzip", "br", "zstd"];
const decoders = { gzip: createGunzip, br: createBrotliDecompress, zstd: createZstdDecompress };

function readable(port: number, path: string): Promise<{ body: Readable; coding: string; leave(): void }> {
  const headers = { "accept-encoding": "gzip, br, zstd" };
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      const coding = response.headers["content-encoding"] ?? "identity";
      resolve({ body: response, coding, leave: () => sent.destroy() });
    });
    sent.on("error", reject);
    sent.end();
  });
}

function readableOverHttp2(port: number, path: string): ReturnType<typeof readable> {
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":path": path, "accept-encoding": "gzip, br, zstd" });
  return new Promise((resolve, reject) => {
    session.on("error", reject);
    stream.on("error", reject);
    stream.on("response", (fields) => {
      const coding = String(fields["content-encoding"] ?? "identity");
      resolve({ body: stream, coding, leave: () => session.destroy() });
    });
  });
}

/** Returns the delays of a stream's events in ms. */
async function delaysOf(server: string, port: number, path: string, wanted: string): Promise<number[]> {
  const open = server === "node:http2" ? readableOverHttp2 : readable;
  const { body, coding, leave } = await open(port, `${path}?${wanted}`);
  if (coding !== wanted) throw new Error(`${server} sends ${coding} where ${wanted} is asked for`);
  const decoded = coding === "identity" ? body : body.pipe(decoders[coding as keyof typeof decoders]());
  const delays: number[] = [];
  let text = "";
  for await (const chunk of decoded) {
    const now = Date.now();
    text += chunk;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      const sent = /\d{13}/.exec(text.slice(0, end));
      if (sent) delays.push(now - Number(sent[0]));
      text = text.slice(end + 1);
    }
    if (delays.length >= EVENTS) break;
  }
  leave();
  return delays;
}

/** Reads EventSources and returns the delays of their events in ms. For a page. */
function listen({ urls, count }: { urls: string[]; count: number }): Promise<number[][]> {
  return Promise.all(urls.map((url) =>
    new Promise<number[]>((resolve, reject) => {
      const source = new EventSource(url);
      const delays: number[] = [];
      source.onerror = () => reject(new Error(`${url} has failed`));
      source.onmessage = ({ data }) => {
        delays.push(Date.now() - Number(data));
        if (delays.length < count) return;
        source.close();
        resolve(delays);
      };
    })
  ));
}

async function inChromium(urls: string[]): Promise<number[][]> {
  const profile = await mkdtemp(join(tmpdir(), "millrace-events-"));
  const browser = await openBrowser(profile);
  try {
    return await browser.page.evaluate(listen, { urls, count: EVENTS });
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
  }
}

function cell(delays: readonly number[]): string {
  const sorted = delays.toSorted((a, b) => a - b);
  return `${sorted[sorted.length >> 1]} / ${sorted.at(-1)} ms`;
}

const { deno } = process.versions as Record<string, string | undefined>;
const script = join(dirname(fileURLToPath(import.meta.url)), "compression/delay_server.ts");
const args = [...(deno ? ["run", "-A"] : []), script];
const server = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
const { value } = await createInterface({ input: server.stdout! })[Symbol.asyncIterator]().next();
const ports: Readonly<Record<string, number>> = JSON.parse(value!);
const rows: string[][] = [];
const streams = Object.entries(ports).flatMap(([name, port]) =>
  ["/sse", "/ndjson"].map(async (path) => {
    const delays = await Promise.all(CODINGS.map((coding) => delaysOf(name, port, path, coding)));
    return [`${name}: ${path === "/sse" ? "server-sent events" : "JSON lines"}`, ...delays.map(cell)];
  })
);
rows.push(...await Promise.all(streams));
if (!noChromium) {
  const names = ["express", "hono", "server"];
  const urls = names.flatMap((name) => CODINGS.map((coding) => `http://127.0.0.1:${ports[name]}/sse?${coding}`));
  const delays = (await inChromium(urls)).map(cell);
  for (const [i, name] of names.entries()) {
    rows.push([`${name}: EventSource in Chromium`, ...delays.slice(i * CODINGS.length, (i + 1) * CODINGS.length)]);
  }
}
server.stdin!.end();
const title = `event_delay: ${runtimeName().split(" ")[0]}`;
const body =
  `${circumstances()}. ${EVENTS} events of one a second, from when one is sent until it can be read: median / ` +
  `latest.\n\n${table(["", "uncompressed", ...CODINGS.slice(1)], rows)}`;
if (values.events === "20") writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
process.exit(0);
