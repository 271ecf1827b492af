import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { LARGE_FILE, sha256 } from "../content.ts";
import type { FoundFile } from "../walk.ts";
import type { Pause } from "./cover.ts";

/** A dictionary is made of at most so many pages, and bytes of them: more take longer, and give hardly a better one. */
const MOST_PAGES = 1024;
const MOST_BYTES = 16 * 1024 * 1024;
/** No page counts with more than so many of its first bytes. */
const LONGEST_PAGE = 256 * 1024;
/** Dictionaries are tried on so many pages: others than they are made of, if there are such. */
const TRIED_PAGES = 192;

/** Whether a file is a page that a browser navigates to, and small enough for a delta. */
export function isPage({ path, size }: Pick<FoundFile, "path" | "size">): boolean {
  return /\.(?:html?|xhtml)$/i.test(path) && size <= LARGE_FILE;
}

/** Pages of a site that stand for all. */
export interface Sample {
  /** To make a dictionary of. */
  readonly made: readonly Uint8Array<ArrayBuffer>[];
  /** To try dictionaries on. */
  readonly tried: readonly Uint8Array<ArrayBuffer>[];
  /** A hash of all that is in the sample, in hexadecimal. */
  readonly digest: string;
}

/** Reads a sample of `pages`: the same ones as long as they are there, whatever comes and goes beside them. */
export async function samplePages(folder: string, pages: readonly FoundFile[], pause: Pause): Promise<Sample> {
  const byHash = pages.map(({ path }) => ({ path, order: sha256(new TextEncoder().encode(path)) }))
    .sort((a, b) => a.order < b.order ? -1 : 1);
  const contents: Uint8Array<ArrayBuffer>[] = [];
  const digest = createHash("sha256");
  let [made, bytes] = [0, 0];
  for (const { path } of byHash) {
    if (contents.length - made >= TRIED_PAGES) break;
    const content = await beginningOf(join(folder, path));
    if (content === undefined) continue; // whoever needs it whole tells of it
    if (made === contents.length && made < MOST_PAGES && bytes + content.length <= MOST_BYTES) {
      made++;
      bytes += content.length;
    }
    contents.push(content);
    digest.update(sha256(content));
    await pause();
  }
  const others = contents.slice(made);
  return {
    made: contents.slice(0, made),
    tried: others.length === TRIED_PAGES ? others : contents.slice(-TRIED_PAGES),
    digest: digest.digest("hex"),
  };
}

async function beginningOf(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const file = await open(path, "r");
    try {
      const buffer = new Uint8Array(LONGEST_PAGE);
      let length = 0;
      while (length < LONGEST_PAGE) {
        const { bytesRead } = await file.read(buffer, length, LONGEST_PAGE - length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return buffer.slice(0, length);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
