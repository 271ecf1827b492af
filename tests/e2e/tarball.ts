import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";

const BLOCK = 512;

/**
 * Packs files as registries hold packages: a tar archive, gzipped.
 *
 * @throws {RangeError} if a path does not fit in a header.
 * @see {@link https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06}
 */
export function packTarball(files: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const blocks = [...files].flatMap(([path, bytes]) => {
    return [header(path, bytes.length), bytes, new Uint8Array(-bytes.length & (BLOCK - 1))];
  });
  return new Uint8Array(gzipSync(Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)]), { level: 1 }));
}

/**
 * The files of a package's archive by path.
 *
 * @throws {TypeError} if it holds anything but files and folders: no registry's client should send such.
 */
export function unpackTarball(tarball: Uint8Array): Map<string, Uint8Array> {
  const archive = gunzipSync(tarball);
  const files = new Map<string, Uint8Array>();
  for (let at = 0; archive[at] !== 0 && at < archive.length;) {
    const size = parseInt(field(archive, at + 124, 12), 8);
    const prefix = field(archive, at + 345, 155);
    const path = (prefix === "" ? "" : `${prefix}/`) + field(archive, at, 100);
    const type = field(archive, at + 156, 1);
    if (!["", "0", "5"].includes(type)) throw new TypeError(`${path} is an entry of type ${type}`);
    if (type !== "5") files.set(path.replace(/^\.\//, ""), archive.subarray(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function header(path: string, size: number): Uint8Array {
  if (Buffer.byteLength(path) > 100) throw new RangeError(`${path} is longer than a header's 100 bytes`);
  const block = Buffer.alloc(BLOCK);
  block.write(path, 0);
  block.write("0000644\0", 100);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136); // 1970
  block.write("        0", 148); // the checksum counts itself as blanks; then the type: a file
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function field(archive: Uint8Array, from: number, length: number): string {
  const bytes = archive.subarray(from, from + length);
  const end = bytes.indexOf(0);
  return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end)).toString();
}
