import { dirname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const root: string = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The runtime that runs this test. */
export const runtime: "node" | "deno" | "bun" = process.versions.bun ? "bun" : process.versions.deno ? "deno" : "node";
