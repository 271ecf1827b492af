import assert from "node:assert/strict";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { mock, test } from "node:test";
import { HeldFolder } from "../../../lib/files/internal.ts";
import { isTemporaryName } from "../../../lib/files/mod.ts";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { tries } from "../../support/long_run.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { inUploads } from "../handler/serving_handler.ts";
import { needs } from "../../support/needs.ts";

/** A folder below a root whose name leads outside now and then. */
class SwappedFolder {
  readonly #root: string;
  isSwapped = false;

  constructor(root: string, outside: string) {
    this.#root = root;
    mkdirSync(join(root, "sub"));
    symlinkSync(outside, join(root, "link"), "dir");
  }

  swap(): void {
    const names = this.isSwapped ? [["sub", "link"], ["true", "sub"]] : [["sub", "true"], ["link", "sub"]];
    for (const [from, to] of names) renameSync(join(this.#root, from), join(this.#root, to));
    this.isSwapped = !this.isSwapped;
  }

  /** Returns the names of files in the folder itself. */
  files(): string[] {
    return readdirSync(join(this.#root, this.isSwapped ? "true" : "sub")).sort();
  }
}

const protocols: Record<string, RequestInit> = {
  "a PUT": { method: "PUT" },
  "a PUT that may be resumed": { method: "PUT", headers: { "upload-complete": "?1" } },
  "a PUT under a condition": { method: "PUT", headers: { "if-unmodified-since": "Thu, 01 Jan 2099 00:00:00 GMT" } },
};

/** Sends `count` uploads, eight at a time, while names are swapped; returns the names of those that were stored. */
async function uploadWhileSwapping(directory: string, folder: SwappedFolder, init: RequestInit): Promise<string[]> {
  const uploads = createUploadHandler({ directory, overwrite: true, resumable: true, log: () => {} });
  const random = randomNumbers(11);
  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  const stored: string[] = [];
  let isOver = false;
  const swapping = (async () => {
    while (!isOver) {
      await turns(1);
      if (random(4) === 0) folder.swap();
    }
  })();
  const count = tries(init.headers ? 160 : 600);
  let next = 0;
  const send = async (): Promise<void> => {
    // On a busy machine links may be swapped during each of a few requests.
    for (let i = next++; i < count || (stored.length === 0 && i < 50 * count); i = next++) {
      await turns(random(8));
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await turns(random(4));
          controller.enqueue(new TextEncoder().encode("a body"));
          controller.close();
        },
      }, { highWaterMark: 0 });
      const request = new Request(`http://localhost/sub/${i}`, { ...init, body, duplex: "half" } as RequestInit);
      const response = await uploads.fetch(request);
      if (response.ok) stored.push(String(i));
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
  isOver = true;
  await swapping;
  assert.ok(stored.length > 0 && stored.length < next, `${stored.length} of ${next} were stored`);
  return stored.sort();
}

/** Makes the folders, has `use` upload, and looks which files are outside, and which in the folder itself. */
async function inSwapped(
  use: (directory: string, folder: SwappedFolder) => Promise<string[]>,
): Promise<{ readonly outside: string[]; readonly inside: string[]; readonly stored: string[] }> {
  const outside = await mkdtemp(join(tmpdir(), "millrace-outside-"));
  try {
    let found: { readonly outside: string[]; readonly inside: string[]; readonly stored: string[] };
    await inUploads(async (directory) => {
      const folder = new SwappedFolder(directory, outside);
      const stored = await use(directory, folder);
      found = { outside: readdirSync(outside), inside: folder.files(), stored };
    });
    return found!;
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

const skip = needs("links");

for (const [title, init] of Object.entries(protocols)) {
  test(`${title} stores no file outside of the folder while links in it are swapped`, { skip }, async () => {
    const { outside, inside, stored } = await inSwapped((directory, folder) =>
      uploadWhileSwapping(directory, folder, init)
    );
    const isHeld = process.platform === "linux";
    assert.deepEqual(outside.filter((name) => isHeld || !isTemporaryName(name)), []);
    assert.deepEqual(inside.filter((name) => !isTemporaryName(name)), stored);
  });

  test(`${title} stores no file outside where folders cannot be held`, { skip }, async () => {
    const open = mock.method(HeldFolder, "open", () => undefined);
    const { outside, inside, stored } = await inSwapped((directory, folder) =>
      uploadWhileSwapping(directory, folder, init)
    ).finally(() => open.mock.restore());
    assert.deepEqual(outside.filter((name) => !isTemporaryName(name)), []);
    assert.deepEqual(inside.filter((name) => !isTemporaryName(name)), stored);
  });
}
