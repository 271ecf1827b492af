import { type Member, member } from "../../streams/internal.ts";

/**
 * A place in a file that {@linkcode followFile} reads: behind the last whole line that was given to the reader. It is a
 * plain object, to be kept as JSON.
 *
 * @example Going on after a restart
 * ```ts
 * import { followFile, type FollowPosition } from "@millrace/streams/files";
 * import { readFile, writeFile } from "node:fs/promises";
 *
 * await writeFile("app.log", "started\n");
 * const kept = await readFile("app.position", "utf8").catch(() => undefined);
 * const start: FollowPosition | "beginning" = kept === undefined ? "beginning" : JSON.parse(kept);
 * const bytes = await followFile("app.log", { start });
 * for await (const chunk of bytes) {
 *   console.log(new TextDecoder().decode(chunk)); // started
 *   await writeFile("app.position", JSON.stringify(bytes.position)); // once the chunk is done with
 *   break;
 * }
 * ```
 */
export interface FollowPosition {
  /** The device and the inode of the file, or the path of a compressed one; `""` if there was none yet. */
  readonly file: string;
  /** The number of the file, of a series. */
  readonly number?: number | undefined;
  /** The bytes of the file before the place, uncompressed. */
  readonly offset: number;
  /** A digest of the first 64 bytes of the file, and of the 64 before the place. */
  readonly proof: string;
  /** The time of their reading, in ms since 1970. */
  readonly time: number;
}

export function positionMember(): Member<FollowPosition> {
  return member("a position of followFile()", (value) => {
    const { file, number = 1, offset, proof, time } = Object(value) as Partial<FollowPosition>;
    return typeof file === "string" && typeof proof === "string" && Number.isFinite(time) &&
      [number, offset].every((each) => Number.isSafeInteger(each) && each! >= 0);
  });
}
