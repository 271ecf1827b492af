import { counted, formatBytes, formatDuration } from "../quantities/mod.ts";
import { type Changes, differences, sentSize, type SiteFile, sum } from "./changes.ts";
import { formatName, isLoaded, LINE, saving, signed, signedBytes, visibleName } from "./words.ts";
import type { SiteReport } from "./site_report.ts";
import type { Cost } from "./visits.ts";

/** The maximum numbers of changed files and of problems to list. */
const MAX_ROWS = 10;

/** Makes a short Markdown text about a run, for pull requests and job summaries. */
export function markdownReport(report: SiteReport): string {
  const { run, files } = report;
  const worth = files.filter((file) => isLoaded(file) && Object.keys(file.sizes).length > 0);
  const [before, after] = [sum(worth.map(({ size }) => size)), sum(worth.map(sentSize))];
  const { compressed, unchanged, skipped, elapsedMs } = run.report;
  const paragraphs = [
    `### ${code(report.name)}: ${formatBytes(before)} → ${formatBytes(after)} (${saving(before, after)})`,
    `${counted(run.report.files, "file")}: ${compressed.length} compressed, ${unchanged} unchanged, ${skipped} left ` +
    `alone, in ${formatDuration(elapsedMs)}`,
    problems(report),
    types(report, files.filter(({ sizes }) => Object.keys(sizes).length > 0)),
    visit(report),
    changes(report),
  ];
  return `${paragraphs.filter((text) => text !== "").join("\n\n")}\n`;
}

function problems({ run: { report } }: SiteReport): string {
  const all = report.problems;
  if (all.length === 0) return "";
  const listed = all.slice(0, MAX_ROWS).map(({ path, message }) => `- ${code(path)}: ${plain(message)}`);
  if (all.length > MAX_ROWS) listed.push(`- and ${all.length - MAX_ROWS} more`);
  return `**${counted(all.length, "problem")}**\n\n${listed.join("\n")}`;
}

function types({ formats }: SiteReport, worth: readonly SiteFile[]): string {
  if (worth.length === 0) return "";
  const names = [...new Set(worth.map(({ type }) => type))];
  const row = (name: string, files: readonly SiteFile[]): readonly string[] => [
    name,
    String(files.length),
    formatBytes(sum(files.map(({ size }) => size))),
    ...formats.map((format) => {
      const having = files.filter(({ sizes }) => sizes[format] !== undefined);
      const counts = /dc[bz]/.test(format) ? having : files;
      return having.length === 0 ? "" : formatBytes(sum(counts.map(({ size, sizes }) => sizes[format] ?? size)));
    }),
  ];
  const rows = names.map((name) => row(name, worth.filter(({ type }) => type === name)));
  const all = names.length > 1 ? [row("**total**", worth)] : [];
  return table(["type", "files", "as built", ...formats.map(formatName)], [...rows, ...all]);
}

function visit({ visit: first, changes }: SiteReport): string {
  if (!first) return "";
  const row = (name: string, { requests, bytes, ms }: Cost): readonly string[] => [
    name,
    String(requests),
    formatBytes(bytes),
    `${(ms / 1000).toFixed(1)} s`,
  ];
  const rows = [
    row("first, not compressed", first.plain),
    row("first", first.first),
    row("back, nothing new", first.again),
    ...first.update ? [row(`back after this ${former(changes!)}`, first.update)] : [],
  ];
  const head = [`visit of ${code(first.page)} on 4G`, "requests", "bytes", "time"];
  const assumption = `reckoned for ${LINE.megabits} Mbit/s and ${LINE.roundTrip} ms there and back`;
  return `${table(head, rows)}\n\n<sub>${assumption}</sub>`;
}

function changes({ changes, updates }: SiteReport): string {
  if (!changes) return "";
  const { total } = changes;
  const all = differences(changes);
  if (all.length === 0) return `Nothing has changed since the previous ${former(changes)}.`;
  const rows = all.slice(0, MAX_ROWS).map(({ path, change, before, now }) => [
    code(path),
    change === "removed" ? "gone" : change,
    before === undefined ? "" : formatBytes(before),
    now === undefined ? "" : formatBytes(now),
    signedBytes((now ?? 0) - (before ?? 0)),
  ]);
  const count = (kind: string): number => all.filter(({ change }) => change === kind).length;
  const share = total.before > 0 ? `, ${signed(total.now / total.before - 1)}` : "";
  const summary =
    `**Since the previous ${former(changes)}:** ${count("changed")} changed, ${count("new")} new, ${
      count("removed")
    } gone; ` +
    `all files as sent ${formatBytes(total.before)} → ${formatBytes(total.now)} ` +
    `(${signedBytes(total.now - total.before)}${share})`;
  const more = all.length > MAX_ROWS ? `\n\nand ${all.length - MAX_ROWS} more` : "";
  const transfers = updates.map(({ name, changed, hits, plain, bytes }) => {
    return [code(name), String(changed), String(hits), formatBytes(plain), formatBytes(bytes), saving(plain, bytes)];
  });
  const head = ["visitors of", "changed", "with a delta", "sent without", "sent", "deltas save"];
  const byDeploy = transfers.length > 0 ? `\n\n${table(head, transfers)}` : "";
  return `${summary}${byDeploy}\n\n${table(["file", "", "before", "now", "difference"], rows)}${more}`;
}

function former({ former: { isDeploy } }: Changes): string {
  return isDeploy ? "deploy" : "run";
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, i) => i === 0 ? "---" : "---:");
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** Formats a name as code in Markdown, whatever its characters, and also in a table. */
function code(name: string): string {
  return `<code>${plain(name)}</code>`;
}

/** Escapes characters with a meaning in Markdown or HTML. */
function plain(text: string): string {
  return visibleName(text).replace(/[^\w \-./,:;()\u00a0-\uffff]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/_|:\/\/|www\./g, (marks) => [...marks].map((each) => `&#${each.charCodeAt(0)};`).join(""));
}
