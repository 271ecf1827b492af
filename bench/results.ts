import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { writePage } from "./page/write_page.ts";

const folder = dirname(fileURLToPath(import.meta.url));
const path = join(folder, "RESULTS.md");
const HEAD = `# Results

Written by \`npm run bench\`; each section by one run, in which all engines took turns. Compare within a section only.
`;

/** The runtime's name and version, as in `Node 26.10.0`. */
export function runtimeName(): string {
  const { bun, deno, node } = process.versions as Record<string, string | undefined>;
  return bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${node}`;
}

/** Where and when a run was made. */
export function circumstances(): string {
  const [{ model }] = cpus();
  return `${new Date().toISOString().slice(0, 10)}, ${runtimeName()}, ${model.trim()}, ${cpus().length} cores`;
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

/** Prints a section, writes it to `RESULTS.md` in place of the one of the same title, and draws the page anew. */
export function writeSection(title: string, body: string): void {
  console.log(`\n## ${title}\n\n${body}\n`);
  const text = existsSync(path) ? readFileSync(path, "utf8") : HEAD;
  const [head, ...sections] = text.split(/^(?=## )/m);
  const kept = sections.filter((section) => !section.startsWith(`## ${title}\n`));
  const all = [...kept, `## ${title}\n\n${body}\n`].map((section) => section.trim()).sort();
  writeFileSync(path, `${head.trim()}\n\n${all.join("\n\n")}\n`);
  writePage(folder);
}
