import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { precompressArguments } from "../../lib/cli/precompress_arguments.ts";
import { serveArguments } from "../../lib/cli/serve_arguments.ts";
import { root } from "../support/runtime.ts";

/** The form in which pages call the command, by any package manager. */
const COMMAND = /(?:^|[\s"/&])(?:millrace|@millrace\/streams(?:\/cli)?) ((?:precompress|serve) [^\n]*)/g;

/** Returns the words of every command line that pages show in blocks of shells, scripts, jobs and services. */
function commandLines(): { readonly page: string; readonly words: string[] }[] {
  const pages = ["README.md", ...globSync("lib/**/*.md", { cwd: root })];
  return pages.flatMap((page) => {
    const blocks = readFileSync(join(root, page), "utf8").matchAll(/^```(?:sh|json|yaml|ini)\n([^]*?)^```$/gm);
    return [...blocks].flatMap(([, block]) => {
      return [...block.matchAll(COMMAND)].map(([, line]) => ({ page, words: wordsOf(line) }));
    });
  });
}

/** Splits a line into words like a shell: drops the comment, further commands and quotes. */
function wordsOf(line: string): string[] {
  const own = line.split(/\s#|&&|;|\||",?$/)[0].replace(/\\?"/g, "").replaceAll("'", "");
  return own.trim().split(/\s+/);
}

test("every command line that the pages show is understood", async () => {
  const lines = commandLines();
  assert.ok(lines.length > 10, `${lines.length} command lines`);
  for (const { page, words } of lines) {
    try {
      if (words[0] === "serve") await serveArguments(words);
      else precompressArguments(words);
    } catch (error) {
      assert.fail(`${page}: millrace ${words.join(" ")}: ${(error as Error).message}`);
    }
  }
});
