import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** The expected sizes of the files, and the hash of their contents. */
interface Expected {
  readonly sizes: readonly number[];
  readonly hash: string;
}

const LONGEST_LINE = 64;
const known = new Map<string, Promise<Expected>>();

/**
 * Checks that the files in a folder, by name, are what `input` is when each ends before the line that would take it over
 * `maxFileSize`.
 *
 * @throws {TypeError} if they are not.
 */
export async function checkFiles(directory: string, input: string, maxFileSize: number): Promise<void> {
  const key = `${input} ${maxFileSize}`;
  if (!known.has(key)) known.set(key, expect(input, maxFileSize));
  const expected = await known.get(key)!;
  const names = (await readdir(directory)).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const paths = names.map((name) => join(directory, name));
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  if (sizes.join() !== expected.sizes.join()) {
    throw new TypeError(`its files are of ${sizes.join(", ")} bytes instead of ${expected.sizes.join(", ")}`);
  }
  if (await hashOf(paths) !== expected.hash) throw new TypeError("its files hold something else");
}

async function expect(input: string, maxFileSize: number): Promise<Expected> {
  const { size } = await stat(input);
  const file = await open(input);
  const sizes: number[] = [];
  let start = 0;
  while (size - start > maxFileSize) {
    const { buffer } = await file.read(
      new Uint8Array(LONGEST_LINE),
      0,
      LONGEST_LINE,
      start + maxFileSize - LONGEST_LINE,
    );
    sizes.push(maxFileSize - LONGEST_LINE + buffer.lastIndexOf(10) + 1);
    start += sizes[sizes.length - 1];
  }
  await file.close();
  return { sizes: [...sizes, size - start], hash: await hashOf([input]) };
}

async function hashOf(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths) {
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk);
  }
  return hash.digest("hex");
}
