import process from "node:process";

/** The input and output of a contestant. */
export interface NumbersJob {
  /** A file of numbers, one a line. */
  readonly input: string;
  /** The directory of the size-limited files. */
  readonly directory: string;
  /** The limit of a file's size in bytes. */
  readonly maxFileSize: number;
  /** Yields the numbers of the file, one at a time. */
  numbers(): Generator<number, void, undefined>;
}

/** A contestant: every pipeline hands over one number at a time. */
export interface NumberPipelines {
  /** Reads the input, parses its lines to numbers, and writes these to files. */
  fileToFiles?(job: NumbersJob): Promise<void>;
  /** Makes a stream of the generator and pipes it to files. */
  generatorToFiles?(job: NumbersJob): Promise<void>;
  /** Writes the generator's numbers in a loop, and waits only when the stream requires it. */
  writesToFiles?(job: NumbersJob): Promise<void>;
}

/** The jobs by their names in the results. */
export const jobs: Readonly<Record<string, keyof NumberPipelines>> = {
  "file to files": "fileToFiles",
  "generator to files": "generatorToFiles",
  "writes to files": "writesToFiles",
};

const loaders: Readonly<Record<string, () => Promise<NumberPipelines>>> = {
  ours: async () => await import("./ours.ts"),
  "node:stream _writev": async () => (await import("./node_streams.ts")).withWritev(),
  "node:stream _write into a buffer": async () => (await import("./node_streams.ts")).withBuffer(),
  "node:stream _write": async () => (await import("./node_streams.ts")).withWrite(),
  native: async () => (await import("./native_streams.ts")).withNode(),
  "native with FileSink": async () => (await import("./native_streams.ts")).withFileSink(),
  "native with FsFile": async () => (await import("./native_streams.ts")).withFsFile(),
  "native with FsFile and TextLineStream": async () => (await import("./native_streams.ts")).withLineStream(),
};

/** Returns the contestants that can run here. The plain `_write` is so slow that it has a smaller job. */
export function contestantsHere(): string[] {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  return Object.keys(loaders).filter((name) => {
    if (name.includes("FileSink")) return bun !== undefined;
    if (name.includes("TextLineStream")) return deno !== undefined && process.env.DENO_STD_ROOT !== undefined;
    if (name.includes("FsFile")) return deno !== undefined;
    return true;
  });
}

/** Loads a contestant, and nothing of the others. */
export async function loadPipelines(name: string): Promise<NumberPipelines> {
  const load = loaders[name];
  if (!load) throw new TypeError(`"${name}" is no contestant: use ${Object.keys(loaders).join(", ")}`);
  return await load();
}
