/** A format that the command writes. */
export type Plain = "brotli" | "zstd" | "gzip";
/** A format of the playground's own codecs: `dcb` and `dcz` are deltas (RFC 9842). */
export type Codec = Plain | "dcb" | "dcz";

/** The formats in order of preference. */
export const PLAIN: readonly Plain[] = ["brotli", "zstd", "gzip"];

/** The delta of each format, as the command makes it. */
export const DELTAS: Readonly<Partial<Record<Plain, "dcb" | "dcz">>> = { brotli: "dcb", zstd: "dcz" };

/** The command's own levels. */
export const DEFAULTS: Readonly<Record<Plain, number>> = { brotli: 11, zstd: 19, gzip: 12 };

/** The lowest and the highest level of each format. */
export const LEVELS: Readonly<Record<Plain, readonly [least: number, most: number]>> = {
  brotli: [0, 11],
  zstd: [1, 22],
  gzip: [1, 12],
};

/** A file to compress, as workers have it, by its place in the list that they were given. */
export interface Given {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A file at a level; without a level by the browser's own `CompressionStream`. */
export interface Task {
  readonly id: number;
  readonly file: number;
  readonly codec: Codec | `own ${string}`;
  readonly level?: number;
  /** The place of the dictionary in the list of files. */
  readonly dictionary?: number;
}

/** The size of a task's output, and its time in ms on a thread; undefined if the browser has no such codec. */
export interface Done {
  readonly id: number;
  readonly size: number | undefined;
  readonly ms: number;
  readonly error?: string;
}

/** Messages to a worker. */
export type ToWorker = { readonly files: readonly Given[] } | { readonly task: Task };
