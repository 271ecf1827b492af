import type { DeltaFormat, PrecompressProgress, PrecompressReport, VariantFormat } from "../precompress/mod.ts";

const columns: readonly (VariantFormat | DeltaFormat)[] = [
  "brotli",
  "zstd",
  "gzip",
  "dcb",
  "dcz",
  "site-dcb",
  "site-dcz",
];

/** The progress of a run in a few words. */
export function formatProgress({ fraction, remainingMs }: PrecompressProgress): string {
  const remaining = remainingMs === undefined ? "" : `, ${Math.ceil(remainingMs / 1000)}s to go`;
  return `precompressing (${Math.floor(fraction * 100)}%)${remaining}`;
}

/** The report of a run: a line a type of file, as build tools print their output, and one for all. */
export function formatReport({ types, compressed, unchanged, elapsedMs }: PrecompressReport): string {
  const used = columns.filter((format) => types.some(({ variants }) => variants[format] !== undefined));
  const rows = types.map(({ type, files, bytes, variants }) => [
    type,
    `${files} ${files === 1 ? "file" : "files"}`,
    kilobytes(bytes),
    ...used.map((format) => `│ ${format}: ${variants[format] === undefined ? "-" : kilobytes(variants[format])}`),
  ]);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column].length))) ?? [];
  const lines = rows.map((row) => {
    return row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join("  ");
  });
  const parts = [`${compressed.length} ${compressed.length === 1 ? "file" : "files"} precompressed`];
  if (unchanged > 0) parts.push(`${unchanged} unchanged`);
  return [...lines, `✓ ${parts.join(", ")} in ${duration(elapsedMs)}`].join("\n");
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(2)} kB`;
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(2)}s`;
}
