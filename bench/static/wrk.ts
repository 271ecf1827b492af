import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Load, Visit } from "./visitors.ts";

const script = join(dirname(fileURLToPath(import.meta.url)), "rotate.lua");

/** The report of `rotate.lua`. */
interface Said {
  readonly requests: number;
  readonly microseconds: number;
  readonly lost: number;
  readonly refused: number;
}

/** Requests the paths in turn by wrk; undefined if there is no wrk. Rejects if a response is not a success. */
export async function loadByWrk(
  { port, paths, fields, tags, seconds }: Visit & { readonly seconds: number },
  connections: number,
): Promise<Load | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  const [pathsFile, fieldsFile] = [join(folder, "paths"), join(folder, "fields")];
  writeFileSync(pathsFile, paths.map((path, i) => `${path}\t${tags?.[i] ?? ""}\n`).join(""));
  writeFileSync(fieldsFile, Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`).join(""));
  const options = ["--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`];
  const args = [...options, "--script", script, `http://127.0.0.1:${port}`, "--", pathsFile, fieldsFile];
  try {
    const { stdout } = await promisify(execFile)("wrk", args);
    const { requests, microseconds, lost, refused } = JSON.parse(stdout.trim().split("\n").at(-1)!) as Said;
    if (lost + refused > 0) throw new TypeError(`${refused} requests were refused and ${lost} got no answer`);
    return { requests, perSecond: requests / microseconds * 1e6 };
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
