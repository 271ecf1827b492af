import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** Bytes that a client has, too. */
export class Dictionary {
  readonly bytes: Uint8Array;
  /** The SHA-256 in base64, as `Available-Dictionary` has it. */
  readonly hash: string;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.hash = createHash("sha256").update(bytes).digest("base64");
  }
}

/** The most versions of one resource that are kept. */
const MOST_VERSIONS = 4;

/** Bytes that a version takes beside its own and its resource's name, about. */
const OVERHEAD = 512;

/** Returns the size that a version counts with; names are included, as clients choose them, of any length. */
function sizeOf(resource: string, { bytes }: Dictionary): number {
  return bytes.length + resource.length + OVERHEAD;
}

/** The last versions of public responses, within a number of bytes. */
export class FormerVersions {
  readonly #most: number;
  /** By the resource, the least recently used first; the newest version is last. */
  readonly #versions = new Map<string, Dictionary[]>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Keeps a version, unless it is the newest. */
  add(resource: string, bytes: Uint8Array): void {
    const versions = this.#take(resource);
    const newest = versions.at(-1)?.bytes;
    if (newest === undefined || !Buffer.from(newest.buffer, newest.byteOffset, newest.length).equals(bytes)) {
      const version = new Dictionary(bytes);
      versions.push(version);
      this.#held += sizeOf(resource, version);
      if (versions.length > MOST_VERSIONS) this.#held -= sizeOf(resource, versions.shift()!);
    }
    this.#versions.set(resource, versions);
    for (const [oldest, dropped] of this.#versions) {
      if (this.#held <= this.#most) break;
      this.#versions.delete(oldest);
      for (const version of dropped) this.#held -= sizeOf(oldest, version);
    }
  }

  /** Returns a resource's version with that hash. */
  find(resource: string, hash: string): Dictionary | undefined {
    const versions = this.#take(resource);
    if (versions.length > 0) this.#versions.set(resource, versions);
    return versions.find((version) => version.hash === hash);
  }

  #take(resource: string): Dictionary[] {
    const versions = this.#versions.get(resource) ?? [];
    this.#versions.delete(resource);
    return versions;
  }
}
