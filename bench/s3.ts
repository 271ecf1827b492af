/**
 * Uploads of unknown length into a store, all at a time: Millrace beside lib-storage, s3mini and, on Bun, its own client.
 * The store is three nodes of Garage on the loopback; packages are installed below node_modules/.cache when they are
 * missing. Checks every object, and writes wall time, CPU time and the largest resident set of each process to results/.
 *
 *   npm run bench -- s3 [--uploads 200] [--megabytes 15]        [--large 10000] for one object of so many MB
 */
import { spawnSync } from "node:child_process";
import { createHash, type Hash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { S3Bucket, type S3BucketOptions } from "../lib/s3/mod.ts";
import { startStore } from "../tests/s3/real_stores.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, "node_modules", ".cache", "s3-peers");
const CHUNK = 64 * 1024;

function option(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
}

/** Yields the chunks of an upload: other bytes for each contestant, as Garage writes no block that it has. */
function* chunks(name: string, index: number, bytes: number): Generator<Uint8Array<ArrayBuffer>> {
  const pattern = patterns[name];
  for (let start = 0; start < bytes; start += CHUNK) {
    const from = (index + start / CHUNK) & 255;
    yield pattern.slice(from, from + Math.min(CHUNK, bytes - start));
  }
}

/** Returns a source of unknown length, which gives one chunk a turn. */
function sourceOf(name: string, index: number, bytes: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const source = chunks(name, index, bytes);
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      const { done, value } = source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

type Upload = (key: string, source: ReadableStream<Uint8Array<ArrayBuffer>>) => Promise<unknown>;

/** Imports a package of the cache. */
// deno-lint-ignore no-explicit-any -- its types are not installed
function peer(name: string): Promise<any> {
  return import(pathToFileURL(createRequire(join(cache, "package.json")).resolve(name)).href);
}

const contestants: Readonly<Record<string, (options: S3BucketOptions) => Promise<Upload>>> = {
  millrace: (options) => {
    const bucket = new S3Bucket(options);
    return Promise.resolve((key, source) => source.pipeTo(bucket.writable(key)));
  },
  "lib-storage": async ({ endpoint, region, bucket, credentials }) => {
    const [{ S3Client }, { Upload }] = await Promise.all([
      peer("@aws-sdk/client-s3"),
      peer("@aws-sdk/lib-storage"),
    ]);
    const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
    return (Key, Body) => new Upload({ client, params: { Bucket: bucket, Key, Body } }).done();
  },
  s3mini: async ({ endpoint, region, bucket, credentials }) => {
    const { S3mini } = await peer("s3mini");
    const client = new S3mini({ ...credentials, endpoint: `${endpoint}/${bucket}`, region });
    // The client has no sink of unknown length: putAnyObject() where it exists.
    return (key, source) => client.putAnyObject(key, source, "application/octet-stream");
  },
  "Bun.S3Client": ({ endpoint, region, bucket, credentials }) => {
    // deno-lint-ignore no-explicit-any
    const client = new (globalThis as any).Bun.S3Client({ ...credentials as object, endpoint, region, bucket });
    return Promise.resolve(async (key, source) => {
      const writer = client.file(key).writer({ queueSize: 4, partSize: 5 * 1024 * 1024 });
      for await (const chunk of source) await writer.write(chunk);
      await writer.end();
    });
  },
};

const patterns: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = Object.fromEntries(
  Object.keys(contestants).map((name, k) => [
    name,
    new Uint8Array(CHUNK + 256).map((_, i) => (i * (131 + 2 * k) + (i >> 7)) & 255),
  ]),
);

async function contestant(name: string, options: S3BucketOptions): Promise<void> {
  const uploads = option("uploads", 200);
  const bytes = option("megabytes", 15) * 1_000_000;
  const upload = await contestants[name](options);
  const start = performance.now();
  const results = await Promise.allSettled(
    Array.from({ length: uploads }, (_, i) => upload(`${name}/${i}`, sourceOf(name, i, bytes))),
  );
  const seconds = (performance.now() - start) / 1000;
  const failed = results.filter(({ status }) => status === "rejected");
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const row = {
    seconds: seconds.toFixed(1),
    cpu: ((userCPUTime + systemCPUTime) / 1e6).toFixed(1),
    mib: Math.round(maxRSS / 1024 / (process.versions.bun && process.platform === "darwin" ? 1024 : 1)),
    failed: failed.length,
    why: failed.length > 0 ? String((failed[0] as PromiseRejectedResult).reason).slice(0, 160) : "",
  };
  console.log(JSON.stringify(row));
  process.exit();
}

/** Installs the compared packages, once. */
function install(): void {
  if (existsSync(join(cache, "node_modules", "s3mini"))) return;
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, "package.json"), '{"private":true}');
  const names = ["@aws-sdk/client-s3@3", "@aws-sdk/lib-storage@3", "s3mini"];
  spawnSync("npm", ["i", "--no-audit", "--no-fund", ...names], { cwd: cache, stdio: ["ignore", "ignore", "inherit"] });
}

/** Counts the objects that differ from the uploads. */
async function wrongOf(bucket: S3Bucket, name: string, uploads: number, bytes: number): Promise<number> {
  let wrong = 0;
  const check = async (i: number): Promise<void> => {
    const [expected, found]: [Hash, Hash] = [createHash("sha256"), createHash("sha256")];
    for (const chunk of chunks(name, i, bytes)) expected.update(chunk);
    try {
      for await (const chunk of bucket.readable(`${name}/${i}`)) found.update(chunk);
    } catch {
      // The object is missing: the digests differ.
    }
    if (expected.digest("hex") !== found.digest("hex")) wrong++;
    await bucket.delete(`${name}/${i}`);
  };
  for (let i = 0; i < uploads; i += 4) {
    await Promise.all([0, 1, 2, 3].filter((k) => i + k < uploads).map((k) => check(i + k)));
  }
  return wrong;
}

/** Writes one object, reads it by ranges, and measures the memory of both. */
async function large(bucket: S3Bucket, megabytes: number): Promise<void> {
  const bytes = megabytes * 1_000_000;
  const rss: number[] = [];
  const timer = setInterval(() => rss.push(process.memoryUsage.rss() / 2 ** 20), 250);
  const tell = (what: string, start: number): void => {
    const half = rss.slice(rss.length >> 1);
    const [first, second] = [rss.slice(0, rss.length >> 1), half].map((list) => Math.round(Math.max(...list)));
    console.log(
      `${what}: ${
        ((performance.now() - start) / 1000).toFixed(0)
      } s, at most ${first} MiB in the first half, ${second} in the second`,
    );
    rss.length = 0;
  };
  let start = performance.now();
  await sourceOf("millrace", 7, bytes).pipeTo(bucket.writable("large"));
  tell(`${megabytes} MB up`, start);
  start = performance.now();
  const found = createHash("sha256");
  for (let from = 0; from < bytes; from += 256_000_000) {
    for await (const chunk of bucket.readable("large", { range: { start: from, end: from + 256_000_000 } })) {
      found.update(chunk);
    }
  }
  tell(`${megabytes} MB down in ranges`, start);
  clearInterval(timer);
  const expected = createHash("sha256");
  for (const chunk of chunks("millrace", 7, bytes)) expected.update(chunk);
  console.log(found.digest("hex") === expected.digest("hex") ? "the digests are equal" : "THE DIGESTS DIFFER");
}

async function main(): Promise<void> {
  if (process.argv.includes("--large")) {
    return await withStore(({ bucket }) => large(bucket, option("large", 10_000)));
  }
  install();
  const [uploads, megabytes] = [option("uploads", 200), option("megabytes", 15)];
  const taken = new Map<string, Taken>();
  for (const name of Object.keys(contestants)) {
    if (name === "Bun.S3Client" && process.versions.bun === undefined) continue;
    const row = await withStore((place) => turnOf(name, place, uploads, megabytes));
    if (row !== undefined) taken.set(name, row);
  }
  const runtime = runtimeName().split(" ")[0];
  const what =
    `${uploads} uploads of ${megabytes} MB at a time, of unknown length, into three nodes of Garage on the ` +
    "same machine, a new store for each";
  writeSection(`s3: ${runtime}`, `${circumstances()}. ${what}.\n\n${tableOf(taken)}`);
}

/** The figures of a contestant. */
interface Taken {
  readonly seconds: string;
  readonly cpu: string;
  readonly mib: number;
}

/** Runs a contestant in a separate process; undefined if it failed, or stored other bytes. */
async function turnOf(
  name: string,
  { bucket, options }: { bucket: S3Bucket; options: S3BucketOptions },
  uploads: number,
  megabytes: number,
): Promise<Taken | undefined> {
  const command = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
  const sizes = ["--uploads", String(uploads), "--megabytes", String(megabytes)];
  const { stdout, stderr } = spawnSync(process.execPath, [
    ...process.execArgv,
    ...command,
    join(root, "bench/s3.ts"),
    ...sizes,
    "--contestant",
    name,
    JSON.stringify(options),
  ], { encoding: "utf8", timeout: 600_000 });
  const line = stdout.trim().split("\n").at(-1) ?? "";
  const wrong = await wrongOf(bucket, name, uploads, megabytes * 1_000_000);
  console.log(`${runtimeName()} ${name}: ${line || stderr.slice(-300)} wrong: ${wrong}`);
  if (line !== "" && wrong === 0) return JSON.parse(line) as Taken;
  process.exitCode = 1;
  return undefined;
}

function tableOf(taken: ReadonlyMap<string, Taken>): string {
  const ours = taken.get("millrace");
  const rows = [...taken].map(([name, { seconds, cpu, mib }]) => {
    const ratio = ours === undefined || ours.seconds === "0.0" ? NaN : Number(seconds) / Number(ours.seconds);
    return [
      name === "millrace" ? "ours" : name,
      seconds,
      name === "millrace" ? "-" : ratio.toFixed(2),
      cpu,
      String(mib),
    ];
  });
  return table(["", "s", "it / ours", "CPU s", "peak MiB"], rows);
}

/** Calls with a new store, which is stopped then. */
async function withStore<T>(use: (place: { bucket: S3Bucket; options: S3BucketOptions }) => Promise<T>): Promise<T> {
  const store = await startStore("garage", 3);
  const bucket = new S3Bucket(store.options);
  try {
    return await use({ bucket, options: store.options });
  } finally {
    await bucket.close();
    await store.stop();
  }
}

const at = process.argv.indexOf("--contestant");
if (at === -1) await main();
else await contestant(process.argv[at + 1], JSON.parse(process.argv[at + 2]) as S3BucketOptions);
