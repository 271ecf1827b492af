import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { mkdir, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { createStaticHandler, type StaticHandler } from "../../lib/static/mod.ts";
import { pause } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";

/** Ways to put a new build in the place of the one before. */
export const kinds = ["removed and written", "written file by file", "renamed", "switched by a link"] as const;

/** A way to replace the previous build by a new one. */
export type Kind = typeof kinds[number];

/** A size above that of files kept in memory. */
const LARGE = 100_000;
const SMALL = 3000;
/** The time limit of an answer from a complete build, in ms; machines may be busy. */
const LONGEST = 60_000;

/** A file that is in every build; each of its bytes identifies the build. */
const files = {
  "index.html": SMALL,
  "about.html": SMALL,
  "data.json": SMALL,
  "large.bin": LARGE,
  "movie.bin": 3 * LARGE,
};
const paths = Object.keys(files) as (keyof typeof files)[];
const compressed: readonly string[] = ["index.html", "data.json", "large.bin"];

function contentOf(path: keyof typeof files, build: number): Uint8Array<ArrayBuffer> {
  return Buffer.alloc(files[path], `${path} of build ${build}\n`);
}

const builds = new Map<number, [string, Uint8Array][]>();

/** Returns the files of a build, with variants beside some. */
function buildOf(number: number): readonly [string, Uint8Array][] {
  let build = builds.get(number);
  if (!build) builds.set(number, build = makeBuild(number));
  return build;
}

function makeBuild(number: number): [string, Uint8Array][] {
  return paths.flatMap((path): [string, Uint8Array][] => {
    const content = contentOf(path, number);
    if (!compressed.includes(path)) return [[path, content]];
    const br = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
    return [[path, content], [`${path}.br`, br], [`${path}.gz`, gzipSync(content, { level: 1 })]];
  });
}

/** A site that is rebuilt in place while visitors ask for what is in every build. */
export class RebuiltSite {
  readonly #place: string;
  readonly #kind: Kind;
  readonly #random: (below: number) => number;
  readonly #handler: StaticHandler;
  /** The number of the last complete build, and that of the current one, which may be the same. */
  #complete = 0;
  #begun = 0;
  /** The oldest build that may still be served. */
  #oldest = 0;
  #isOver = false;

  private constructor(place: string, kind: Kind, random: (below: number) => number, handler: StaticHandler) {
    this.#place = place;
    this.#kind = kind;
    this.#random = random;
    this.#handler = handler;
  }

  /** Builds a site below `folder` for the first time, and serves it. */
  static async start(folder: string, kind: Kind, random: (below: number) => number): Promise<RebuiltSite> {
    const place = join(folder, kind.replaceAll(" ", "-"));
    if (kind === "switched by a link") {
      await writeTree(join(place, "builds/0"), Object.fromEntries(buildOf(0)));
      await symlink("builds/0", join(place, "site"));
    } else {
      await writeTree(join(place, "site"), Object.fromEntries(buildOf(0)));
    }
    const handler = await createStaticHandler(join(place, "site"), { onWarning: () => {} });
    return new RebuiltSite(place, kind, random, handler);
  }

  /** Rebuilds the site so often, under load, and checks each response. */
  async rebuild(times: number): Promise<void> {
    const visitors = Promise.all([1, 2].map(() => this.#visit()));
    visitors.catch(() => this.#isOver = true);
    try {
      for (let i = 0; i < times && !this.#isOver; i++) {
        this.#begun++;
        await this.#write(this.#begun);
        this.#complete = this.#begun;
        // The handler is reloaded in some rounds, and sees the change itself in others.
        if (this.#random(4) === 0) await this.#handler.reload();
        await this.#becomeServed();
      }
    } finally {
      this.#isOver = true;
      await visitors;
      await this.#handler.close();
    }
  }

  /** Waits until every path is answered from the build that is complete. */
  async #becomeServed(): Promise<void> {
    const deadline = Date.now() + LONGEST;
    for (const path of paths) {
      while (await this.#ask(path) !== this.#complete && !this.#isOver) {
        assert.ok(
          Date.now() < deadline,
          `${path} is not of build ${this.#complete} after ${LONGEST} ms (${this.#kind})`,
        );
        await pause(20);
      }
    }
    this.#oldest = this.#complete;
  }

  async #visit(): Promise<void> {
    while (!this.#isOver) {
      await this.#ask(paths[this.#random(paths.length)]!);
      await pause(this.#random(6));
    }
  }

  /** Requests a path; returns the build of the response, undefined if the request is to be repeated. */
  async #ask(path: keyof typeof files): Promise<number | undefined> {
    const oldest = this.#oldest;
    const coding = ["br", "gzip", "identity"][this.#random(3)]!;
    const url = `http://site.example/${path === "index.html" ? "" : path}`;
    const response = await this.#handler.fetch(new Request(url, { headers: { "accept-encoding": coding } }));
    const body = await response.arrayBuffer().then((buffer) => Buffer.from(buffer), () => undefined);
    const what = `${path} in ${coding} (${this.#kind}, builds ${oldest} to ${this.#begun})`;
    if (response.status === 503) {
      assert.ok(files[path] === LARGE || files[path] === 3 * LARGE, `${what}: what is in memory is always there`);
      assert.equal(response.headers.get("retry-after"), "1");
      return undefined;
    }
    assert.equal(response.status, 200, what);
    if (body === undefined) return undefined; // cut, as the file changed while it was sent
    const tag = `"${createHash("sha256").update(body).digest("base64").slice(0, 22)}"`;
    assert.equal(response.headers.get("etag"), tag, `${what}: bytes and tag belong together`);
    return this.#buildIn(body, response.headers.get("content-encoding"), path, oldest, what);
  }

  #buildIn(
    body: Buffer,
    coding: string | null,
    path: keyof typeof files,
    oldest: number,
    what: string,
  ): number {
    for (let build = this.#begun; build >= oldest; build--) {
      const stored = coding === null ? path : `${path}.${coding === "br" ? "br" : "gz"}`;
      const expected = buildOf(build).find(([name]) => name === stored);
      if (expected && body.equals(expected[1])) return build;
    }
    throw new Error(`${what}: ${body.length} bytes of no build: ${body.toString("latin1", 0, 60)}`);
  }

  async #write(build: number): Promise<void> {
    const site = join(this.#place, "site");
    if (this.#kind === "removed and written") {
      await rm(site, { recursive: true });
      await this.#takeTime(3);
      // As bundlers do: the page comes last, and what it needs may take a while.
      for (const [path, bytes] of buildOf(build).toReversed()) await this.#put(join(site, path), bytes);
    } else if (this.#kind === "written file by file") {
      for (const [path, bytes] of buildOf(build)) await this.#put(join(site, path), bytes);
    } else if (this.#kind === "renamed") {
      await writeTree(`${site}.next`, Object.fromEntries(buildOf(build)));
      await rename(site, `${site}.last`);
      await this.#takeTime(1);
      await rename(`${site}.next`, site);
      await rm(`${site}.last`, { recursive: true });
    } else {
      await writeTree(join(this.#place, `builds/${build}`), Object.fromEntries(buildOf(build)));
      await symlink(`builds/${build}`, join(this.#place, "next"));
      await rename(join(this.#place, "next"), site);
      await rm(join(this.#place, `builds/${build - 1}`), { recursive: true });
    }
  }

  /** Writes a file in pieces, at its place. */
  async #put(path: string, bytes: Uint8Array): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    if (this.#random(2) === 0) return await writeFile(path, bytes);
    const file = await open(path, "w");
    await file.write(bytes.subarray(0, bytes.length / 2));
    await this.#takeTime(0);
    await file.write(bytes.subarray(bytes.length / 2));
    await file.close();
    await this.#takeTime(0);
  }

  /** Waits for some time, the longer the higher `chance`; below what passes for rest. */
  async #takeTime(chance: number): Promise<void> {
    if (this.#random(4) <= chance) await pause(this.#random(chance === 3 ? 4500 : 200));
  }
}
