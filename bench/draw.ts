/**
 * Draws README.md and the plots of this folder from results/, without measuring anything.
 *
 *   node bench/draw.ts
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { writePage } from "./page/write_page.ts";

writePage(dirname(fileURLToPath(import.meta.url)));
