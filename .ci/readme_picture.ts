/**
 * Draws `lib/precompress_run.svg`, the picture of README.md: what the command prints for Bootstrap's style sheets, and the
 * bytes in total.
 *
 *   npm run build:picture
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { root } from "./root.ts";

const SITE = join(root, "node_modules/bootstrap/dist/css");
const COMMAND = "npx @millrace/streams precompress dist/css --exclude '**/*.map'";
const WIDTH = 720;
const LEFT = 24;
const LINE = 22;
/** Pixels: where bars begin, and how long the longest is. */
const BARS = { x: 110, width: 480 };

/** Bytes as the command prints them, as in `1.7 MB`. */
function bytesOf(text: string): number {
  const [number, unit] = text.split(" ");
  return Number(number) * { B: 1, kB: 1e3, MB: 1e6 }[unit]!;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Returns the lines that the command prints. */
function runCommand(): string[] {
  const out = mkdtempSync(join(tmpdir(), "picture-"));
  try {
    const argv = ["lib/cli/cli.ts", "precompress", SITE, "--out", join(out, "css"), "--exclude", "**/*.map"];
    return execFileSync(process.execPath, argv, { cwd: root, encoding: "utf8" }).trim().split("\n");
  } finally {
    rmSync(out, { recursive: true });
  }
}

/** Returns the picture of a run. */
export function drawRun(lines: readonly string[]): string {
  const cells = lines[1].split(/ {2,}/); // type, files, before, brotli, zstd, gzip, time
  const bars = ["before", "brotli", "zstd", "gzip"].map((name, i) => ({ name, size: cells[2 + i] }));
  const longest = bytesOf(bars[0].size);
  let y = LINE * 1.6;
  const shown = [`$ ${COMMAND}`, ...lines].map((line, i) => {
    const at = y;
    y += LINE;
    return `  <text class="mono${i === 0 ? " typed" : ""}" x="${LEFT}" y="${at}">${escaped(line)}</text>`;
  });
  const screen = y - LINE / 4;
  y = screen + LINE * 1.5;
  const drawn = bars.map(({ name, size }) => {
    const width = Math.max(2, Math.round((bytesOf(size) / longest) * BARS.width));
    const at = y;
    y += LINE * 1.2;
    return `  <text x="${LEFT}" y="${at + 13}">${name}</text>
  <rect class="${name}" x="${BARS.x}" y="${at}" width="${width}" height="17" rx="2" />
  <text class="size" x="${BARS.x + width + 8}" y="${at + 13}">${size}</text>`;
  });
  const height = Math.round(y + LINE / 2);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
  <title id="title">Bootstrap's style sheets: ${bars.map(({ name, size }) => `${name} ${size}`).join(", ")}</title>
  <style>
    text { font: 14px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2933; }
    .mono { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #e4e7eb; }
    .typed { font-weight: 600; fill: #9fd0f2; }
    .size { font-weight: 600; }
    .screen { fill: #16212b; }
    .card { fill: #eef2f6; }
    .before { fill: #9aa5b1; }
    .brotli, .zstd, .gzip { fill: #3f7199; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e7eb; }
      .card { fill: #22303c; }
      .brotli, .zstd, .gzip { fill: #7fb2d9; }
    }
  </style>
  <rect class="card" width="${WIDTH}" height="${height}" rx="8" />
  <path class="screen" d="M0 ${screen}V8a8 8 0 0 1 8-8h${WIDTH - 16}a8 8 0 0 1 8 8v${screen - 8}z" />
${[...shown, ...drawn].join("\n")}
</svg>
`;
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(root, "lib/precompress_run.svg"), drawRun(runCommand()));
}
