import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { toJson, toSection } from "./page/tables.ts";
import { writePage } from "./page/write_page.ts";

const folder = dirname(fileURLToPath(import.meta.url));

/** Returns the runtime's name and version, as in `Node 26.10.0`. */
export function runtimeName(): string {
  const { bun, deno, node } = process.versions as Record<string, string | undefined>;
  return bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${node}`;
}

/** Returns the place and time of a run. */
export function circumstances(): string {
  const [{ model }] = cpus();
  return `${new Date().toISOString().slice(0, 10)}, ${runtimeName()}, ${model.trim()}, ${cpus().length} cores`;
}

/** Returns a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

/**
 * Prints a section, writes it to the file in `results` with the name of its title, such as `streams_node.json`, and
 * redraws the page.
 */
export function writeSection(title: string, body: string): void {
  console.log(`\n## ${title}\n\n${body}\n`);
  mkdirSync(join(folder, "results"), { recursive: true });
  const name = title.toLowerCase().replace(/\W+/g, "_");
  writeFileSync(join(folder, "results", `${name}.json`), toJson(toSection(title, body)));
  writePage(folder);
}
