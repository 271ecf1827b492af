import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { isOwnName } from "../../../lib/precompress/internal.ts";

/** A named entry of a folder, with every property that a tool could change. */
export type Entry =
  | { readonly kind: "file"; readonly hash: string; readonly mode: number; readonly mtimeMs: number }
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "folder" };

/** Everything below a folder by path, links not followed; the files that runs keep for themselves are left out. */
export type Snapshot = Map<string, Entry>;

/** Takes a snapshot of what is below `folder`. */
export function snapshotOf(folder: string): Snapshot {
  const entries: Snapshot = new Map();
  visit("");
  return entries;

  function visit(below: string): void {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      if (isOwnName(entry.name)) continue;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      entries.set(path, entryAt(join(folder, path)));
      if (entry.isDirectory()) visit(path);
    }
  }
}

/** Returns the entry at a path. */
export function entryAt(path: string): Entry {
  const status = lstatSync(path);
  if (status.isSymbolicLink()) return { kind: "link", to: readlinkSync(path) };
  if (status.isDirectory()) return { kind: "folder" };
  return { kind: "file", hash: hashOf(readFileSync(path)), mode: status.mode & 0o777, mtimeMs: status.mtimeMs };
}

/** Whether two entries are the same, to the byte. */
export function areSame(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a?.kind !== b?.kind) return false;
  if (a?.kind === "link") return a.to === (b as typeof a).to;
  if (a?.kind !== "file") return true;
  const other = b as typeof a;
  return a.hash === other.hash && a.mode === other.mode && Math.abs(a.mtimeMs - other.mtimeMs) < 2;
}

/** Returns the hash by which snapshots compare contents. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 20);
}
