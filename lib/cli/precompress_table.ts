import { type PrecompressReport, type TypeSummary, variantFormats } from "../precompress/mod.ts";
import { formatBytes, formatDuration } from "../quantities/mod.ts";

/**
 * The closing table: a row a type of file, with the bytes before and after for each format, and the time that its new
 * variants took, summed over the threads.
 */
export function formatTable(report: PrecompressReport): string {
  const formats = [...variantFormats, "dcb", "dcz", "site-dcb", "site-dcz"] as const;
  const used = formats.filter((format) => report.types.some(({ variants }) => variants[format] !== undefined));
  const timed = report.types.some(({ elapsedMs }) => elapsedMs > 0);
  const total: TypeSummary = {
    type: "total",
    files: sum(report.types.map(({ files }) => files)),
    bytes: sum(report.types.map(({ bytes }) => bytes)),
    variants: Object.fromEntries(
      used.map((format) => [format, sum(report.types.map(({ variants }) => variants[format] ?? 0))]),
    ),
    elapsedMs: sum(report.types.map(({ elapsedMs }) => elapsedMs)),
  };
  const row = ({ type, files, bytes, variants, elapsedMs }: TypeSummary) => [
    type,
    String(files),
    formatBytes(bytes),
    ...used.map((format) => variants[format] === undefined ? "-" : formatBytes(variants[format])),
    ...timed ? [elapsedMs > 0 ? formatDuration(elapsedMs) : "-"] : [],
  ];
  const rows = [["type", "files", "before", ...used, ...timed ? ["time"] : []], ...report.types.map(row)];
  if (report.types.length > 1) rows.push(row(total));
  return align(rows);
}

function align(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)).join("  ");
  return rows.map(line).join("\n");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
