import type { ItemTarget } from "./item_writer.ts";

/** A file that a stream writes to. */
export interface FileTarget extends ItemTarget {
  readonly path: string;
  /** The file is complete. */
  commit(): Promise<void>;
}
