import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { compress } from "../../lib/codecs/mod.ts";

/** A file of some generation, as it is stored in one coding. */
export interface StoredForm {
  readonly generation: number;
  /** The path below the folder. */
  readonly path: string;
  readonly coding: string;
  readonly bytes: Uint8Array;
}

/** The files of one deploy. */
export interface Generation {
  readonly number: number;
  /** The files on disk by path, including variants with their extensions; the page is the last one. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  /** The paths that the page names. */
  readonly assets: readonly string[];
}

/** The number of generations that are remembered. */
const KEPT = 100; // an answer may be on its way while many deploys follow

/** Deploys of a site whose every byte belongs to one deploy: each file in each coding names its own. */
export class Generations {
  readonly #forms = new Map<string, StoredForm>();
  /** The keys of `#forms` by generation. */
  readonly #made = new Map<number, string[]>();

  /** Makes the files of generation `number`. */
  async make(number: number): Promise<Generation> {
    const files: Record<string, Uint8Array> = {};
    this.#made.set(number, []);
    this.#forget(number - KEPT);
    const script = lines(`console.log("generation ${number}");`, 1_500);
    const film = lines(`film of generation ${number}`, 70_000);
    const assets = [`assets/app-${hashOf(script)}.js`, `assets/film-${hashOf(film)}.bin`];
    await this.#add(files, number, assets[0], script, true);
    await this.#add(files, number, assets[1], film, false);
    await this.#add(files, number, "data.json", lines(`{ "generation": ${number} }`, 2_000), true);
    await this.#add(files, number, "large.bin", lines(`generation ${number}`, 150_000), false);
    const page = `<!doctype html>\n<title>generation ${number}</title>\n${
      assets.map((path) => `<link rel=preload href="/${path}">\n`).join("").repeat(8)
    }`;
    await this.#add(files, number, "index.html", Buffer.from(page), true);
    return { number, files, assets };
  }

  /** Returns the representation that consists of exactly these bytes. */
  formOf(bytes: Uint8Array): StoredForm | undefined {
    return this.#forms.get(hashOf(bytes));
  }

  /** Forgets deploys that no client can get any more, which would fill the memory. */
  #forget(number: number): void {
    for (const hash of this.#made.get(number) ?? []) this.#forms.delete(hash);
    this.#made.delete(number);
  }

  async #add(
    files: Record<string, Uint8Array>,
    generation: number,
    path: string,
    bytes: Uint8Array<ArrayBuffer>,
    isCompressed: boolean,
  ): Promise<void> {
    const add = (extension: string, coding: string, stored: Uint8Array): void => {
      files[path + extension] = stored;
      const hash = hashOf(stored);
      this.#forms.set(hash, { generation, path, coding, bytes: stored });
      this.#made.get(generation)!.push(hash);
    };
    add("", "identity", bytes);
    if (!isCompressed) return;
    add(".br", "br", brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }));
    add(".gz", "gzip", gzipSync(bytes, { level: 1 }));
    add(".zst", "zstd", await compress(bytes, { format: "zstd", level: 1 }));
  }
}

/** Returns `size` bytes of one repeated line. */
function lines(line: string, size: number): Uint8Array<ArrayBuffer> {
  return Buffer.alloc(size, `${line}\n`);
}

/** Returns a hash in hexadecimal with a prefix, so that it never looks like a number or a word. */
function hashOf(bytes: Uint8Array): string {
  return `a1b2${createHash("sha256").update(bytes).digest("hex").slice(0, 20)}`;
}
