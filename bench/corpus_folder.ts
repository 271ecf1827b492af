import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where benchmarks keep what they made; ignored by git. */
export const corpusFolder: string = join(dirname(fileURLToPath(import.meta.url)), ".corpus");
