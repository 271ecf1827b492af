import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const root: string = join(dirname(fileURLToPath(import.meta.url)), "..");
