import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import type { Block } from "./block.ts";

/**
 * Checks the types of the blocks that run on Deno, by its own checker and with its own globals.
 *
 * @param project The project's folder, as {@linkcode RunOptions.project}.
 * @param deno The program of Deno.
 * @returns What it says, each beginning with `path:line`.
 */
export function denoCheckBlocks(blocks: readonly Block[], project: string, deno: string): string[] {
  mkdirSync(join(project, "blocks"), { recursive: true });
  const folder = mkdtempSync(join(project, "blocks/deno-types-"));
  try {
    const onDeno = blocks.filter(({ runtimes, language }) => runtimes.includes("deno") && language === "ts");
    onDeno.forEach(({ code }, i) => writeFileSync(join(folder, `${i}.ts`), code));
    const { status, stderr, error } = spawnSync(deno, ["check", "--quiet", "."], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
      maxBuffer: 64 << 20,
    });
    if (error !== undefined) throw error;
    if (status !== 0 && !/^TS\d+ \[ERROR\]: /m.test(stderr)) {
      throw new TypeError(`deno check ended with ${status}:\n${stderr}`);
    }
    return complaints(stderr, onDeno, basename(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function complaints(output: string, blocks: readonly Block[], folder: string): string[] {
  return output.split(/^(?=TS\d+ \[ERROR\]: )/m).flatMap((text) => {
    const place = /\bat file:\/\/\S*\/([^/]+)\/(\d+)\.ts:(\d+):\d+/.exec(text);
    // Errors in sources are skipped: for users, Deno does not check modules from JSR.
    if (place === null || place[1] !== folder) return [];
    const { path, line } = blocks[Number(place[2])];
    return [`${path}:${line + Number(place[3]) - 1} (types on Deno): ${text.replace(/^\s+at file:[^]*/m, "").trim()}`];
  });
}
