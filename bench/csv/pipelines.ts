/** Reads a file's records, one array a call, and writes a summary to a folder. */
export type CsvPipeline = (input: string, directory: string) => Promise<void>;

/** The jobs of a contestant. */
export interface CsvPipelines {
  /** Counts records, fields and characters, and writes the figures. */
  readonly read: CsvPipeline;
  /** Writes the records again, as CSV. */
  readonly copy: CsvPipeline;
}

const loaders: Readonly<Record<string, () => Promise<CsvPipelines>>> = {
  ours: async () => (await import("./ours.ts")).ours,
  "csv-parse and csv-stringify": async () => (await import("./peers.ts")).csvParse,
  papaparse: async () => (await import("./peers.ts")).papaparse,
  udsv: async () => (await import("./peers.ts")).udsv,
};

/** The names of all. */
export const contestants: readonly string[] = Object.keys(loaders);

/** Loads a contestant, and nothing of the others. */
export async function loadPipelines(name: string): Promise<CsvPipelines> {
  const load = loaders[name];
  if (!load) throw new TypeError(`"${name}" is no contestant: use ${contestants.join(", ")}`);
  return await load();
}
