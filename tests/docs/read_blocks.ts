import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Block, blockOf, type Fence, fencesOf, type Line } from "./block.ts";
import { setupOf } from "./setup.ts";

/**
 * The pages and sources of the repository that hold blocks for users: README.md, what is Markdown below lib/, and the
 * comments of the sources.
 *
 * @param root The repository's folder; the paths are relative to it.
 */
export function documentationFiles(root: string): string[] {
  const paths = ["README.md", "mod.ts", "lib/**/*.md", "lib/**/*.ts"].flatMap((path) => globSync(path, { cwd: root }));
  return [...new Set(paths)].sort();
}

/**
 * Every block of ts and js in pages (`.md`) and in the comments of sources (`.ts`, `.js`).
 *
 * @param paths Files, or folders that are looked through for such files.
 * @param root What the paths are relative to.
 * @throws {TypeError} As {@linkcode fencesOf} and {@linkcode blockOf}, or if there is no block at all.
 */
export function readBlocks(paths: readonly string[], root = "."): Block[] {
  const blocks = paths.flatMap((path) => filesOf(path, root)).flatMap((path) => {
    return blocksOf(path, readFileSync(join(root, path), "utf8"));
  });
  if (blocks.length === 0) throw new TypeError(`${paths.join(", ")}: no block of ts or js`);
  return blocks;
}

function filesOf(path: string, root: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return globSync(["**/*.md", "**/*.ts"], { cwd: join(root, path) }).sort().map((name) => join(path, name));
}

/** Returns the blocks of one page or source, by the ending of its name. */
export function blocksOf(path: string, text: string): Block[] {
  const fences = fencesOfFile(path, text);
  const setup = path.endsWith(".md") ? setupOf(fences) : undefined;
  return fences.flatMap((fence) => blockOf(path, fence) ?? []).map((block) => ({ ...block, setup }));
}

/** Returns the fenced blocks of one page or source, of whichever language. */
export function fencesOfFile(path: string, text: string): Fence[] {
  const lines = text.split(/\r?\n/).map((line, i) => ({ number: i + 1, text: line }));
  if (path.endsWith(".md")) return fencesOf(path, lines);
  return docComments(lines).flatMap((comment) => fencesOf(path, comment));
}

/** Returns the text of each doc comment, without its stars. */
function docComments(lines: readonly Line[]): Line[][] {
  const comments: Line[][] = [];
  let comment: Line[] | undefined;
  for (const { number, text } of lines) {
    // Only at the start of a line: elsewhere it is a glob in a string.
    if (comment === undefined && /^\s*\/\*\*(?!\/)/.test(text)) comments.push(comment = []);
    if (comment === undefined) continue;
    const end = text.indexOf("*/", comment.length === 0 ? text.indexOf("/**") + 3 : 0);
    const content = (end < 0 ? text : text.slice(0, end)).replace(/^\s*(?:\/\*\*|\* ?|$)/, "");
    comment.push({ number, text: content });
    if (end >= 0) comment = undefined;
  }
  return comments;
}
