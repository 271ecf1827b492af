import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { S3Bucket, type S3BucketOptions } from "../../lib/s3/mod.ts";
import { pause } from "../support/waits.ts";
import { freePorts } from "../support/ports.ts";

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "millrace");
const run = promisify(execFile);

/** A store in processes of its own. */
export interface RealStore {
  readonly options: S3BucketOptions;
  /** Its nodes' endpoints, and processes. */
  readonly endpoints: readonly string[];
  readonly nodes: readonly ChildProcess[];
  stop(): Promise<void>;
}

/** The stores that a test may run against, and why one is skipped. */
export const realStores: Readonly<Record<"garage" | "versitygw", { path: string; skip: string | false }>> = {
  garage: found("Garage", "GARAGE", join(cache, "garage-2.5.0", "bin", "garage")),
  versitygw: found("versitygw", "VERSITYGW", join(cache, "versitygw", "versitygw")),
};

function found(name: string, variable: string, built: string): { path: string; skip: string | false } {
  const path = process.env[variable] ?? built;
  return { path, skip: existsSync(path) ? false : `${name} is not built: ${variable} may name it` };
}

/** Starts a store with an empty bucket, on free ports of the loopback. */
export async function startStore(kind: keyof typeof realStores, nodes = 1): Promise<RealStore> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-store-"));
  const started: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const child of started) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    return {
      ...await (kind === "garage" ? garage(folder, nodes, started) : versitygw(folder, started)),
      nodes: started,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function versitygw(folder: string, started: ChildProcess[]): Promise<Omit<RealStore, "stop" | "nodes">> {
  const [port] = await freePorts(1);
  const env = { ...process.env, ROOT_ACCESS_KEY: "id", ROOT_SECRET_KEY: "secret" };
  const data = join(folder, "data");
  await mkdir(join(data, "films"), { recursive: true });
  started.push(
    spawn(realStores.versitygw.path, ["--port", `127.0.0.1:${port}`, "posix", data], { env, stdio: "ignore" }),
  );
  const endpoint = `http://127.0.0.1:${port}`;
  const options = { endpoint, bucket: "films", credentials: { accessKeyId: "id", secretAccessKey: "secret" } };
  await ready(options);
  return { options, endpoints: [endpoint] };
}

async function garage(
  folder: string,
  count: number,
  started: ChildProcess[],
): Promise<Omit<RealStore, "stop" | "nodes">> {
  const ports = await freePorts(2 * count);
  const secret = randomBytes(32).toString("hex");
  const files = Array.from({ length: count }, (_, i) => join(folder, `${i}.toml`));
  for (const [i, file] of files.entries()) {
    const lines = [
      `metadata_dir = "${folder}/${i}/meta"`,
      `data_dir = "${folder}/${i}/data"`,
      'db_engine = "sqlite"',
      `replication_factor = ${count}`,
      `rpc_bind_addr = "127.0.0.1:${ports[i]}"`,
      `rpc_public_addr = "127.0.0.1:${ports[i]}"`,
      `rpc_secret = "${secret}"`,
      "[s3_api]",
      `api_bind_addr = "127.0.0.1:${ports[count + i]}"`,
      's3_region = "garage"',
    ];
    await writeFile(file, lines.join("\n"));
    started.push(spawn(realStores.garage.path, ["-c", file, "server"], { stdio: "ignore" }));
  }
  const tell = async (file: string, ...words: string[]): Promise<string> => {
    for (let tries = 0;; tries++) {
      try {
        return (await run(realStores.garage.path, ["-c", file, ...words], { timeout: 10_000 })).stdout;
      } catch (error) {
        if (tries === 100) throw error;
        await pause(100);
      }
    }
  };
  const ids: string[] = [];
  for (const file of files) ids.push((await tell(file, "node", "id", "-q")).trim());
  const [first] = files;
  for (const id of ids.slice(1)) await tell(first, "node", "connect", id);
  for (const [i, id] of ids.entries()) {
    await tell(first, "layout", "assign", "-z", `zone${i}`, "-c", "10G", id.split("@")[0]);
  }
  await tell(first, "layout", "apply", "--version", "1");
  await tell(first, "bucket", "create", "films");
  const key = await tell(first, "key", "create", "tests");
  await tell(first, "bucket", "allow", "--read", "--write", "--owner", "films", "--key", "tests");
  const accessKeyId = /Key ID:\s+(\S+)/.exec(key)![1];
  const secretAccessKey = /Secret key:\s+(\S+)/.exec(key)![1];
  const endpoints = ports.slice(count).map((port) => `http://127.0.0.1:${port}`);
  const options = {
    endpoint: endpoints[0],
    region: "garage",
    bucket: "films",
    credentials: { accessKeyId, secretAccessKey },
  };
  await ready(options);
  return { options, endpoints };
}

/** Waits until a store answers. */
async function ready(options: S3BucketOptions): Promise<void> {
  const bucket = new S3Bucket({ ...options, retries: 0, timeout: 5000 });
  for (let tries = 0;; tries++) {
    try {
      await bucket.put("ready", "");
      await bucket.delete("ready");
      return await bucket.close();
    } catch (error) {
      if (tries === 200) throw error;
      await pause(100);
    }
  }
}
