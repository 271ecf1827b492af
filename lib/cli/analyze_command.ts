import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { type Analysis, analyze, type AnalyzedFile, hints } from "../analyze/mod.ts";
import { explain } from "../precompress/internal.ts";
import { counted, formatBytes } from "../quantities/mod.ts";
import { printable } from "../static/internal.ts";
import type { Command } from "./usage.ts";
import { DONE, FAILED, interrupted, WRONG_USAGE } from "./usage.ts";
import { Interruption } from "./signals.ts";
import { byteCount, readWords, UsageError, wholeNumber } from "./usage.ts";

const help =
  `Looks at a page and its files as a browser does, or at a folder's as millrace serve would send them: what is
uncompressed or compressed badly, not cached or kept too long, and the bytes that precompress would save.

usage: millrace analyze URL|DIR [options]

  --origin ORIGIN        look at files of that origin, too, as in https://cdn.example; can be repeated
  --max-files N          look at no more files (default 500)
  --max-bytes BYTES      load no more; k, M or G may follow the number (default 100M)
  --timeout SECONDS      stop then, and tell what was seen (default 60)
  --ca FILE              trust the certificates in this file, in PEM format, in place of the system's
  --json                 print the analysis as JSON
  -h, --help; -v, --version

exit status: 0 nothing found, 1 findings, 2 wrong usage or nothing to look at, 130 or 143 interrupted
`;

const flags = {
  origin: { type: "string", multiple: true },
  "max-files": { type: "string" },
  "max-bytes": { type: "string" },
  timeout: { type: "string" },
  ca: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** `millrace analyze URL|DIR`: prints what a site's files cost that they need not. */
export const analyzeCommand: Command = {
  help,
  async run(words) {
    const { values, positionals } = readWords(words, flags);
    if (values.help) return "help";
    if (values.version) return "version";
    const target = targetOf(positionals.slice(1)); // behind the name of the command
    const options = {
      origins: (values.origin ?? []).map(originOf),
      maxFiles: positive("max-files", wholeNumber("max-files", values["max-files"] ?? "500")),
      maxBytes: positive("max-bytes", byteCount("max-bytes", values["max-bytes"] ?? "100M")),
      timeout: 1000 * Math.min(positive("timeout", wholeNumber("timeout", values.timeout ?? "60")), 86_400),
      ...(values.ca !== undefined && { ca: await certificates(values.ca) }),
    };
    return await look(target, options, values.json ?? false);
  },
};

/** With a limit of none, nothing would be looked at, and nothing found. */
function positive(flag: string, value: number): number {
  if (value === 0) throw new UsageError(`--${flag} 0 would look at nothing: use 1 or more`);
  return value;
}

function targetOf(words: readonly string[]): string {
  const [target] = words;
  if (!target || words.length > 1) throw new UsageError("name the page or the folder to look at");
  if (/^https?:/i.test(target)) {
    if (URL.parse(target) === null) throw new UsageError(`${target} is no URL`);
  } else if (!existsSync(`${target}/.`)) {
    throw new UsageError(`${target} is neither a URL, as in https://example.com/, nor a folder`);
  }
  return target;
}

function originOf(text: string): string {
  const url = URL.parse(text);
  // More than an origin says: somebody means only a part of it, or a page.
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    throw new UsageError(`--origin ${text} is no origin: use one such as https://cdn.example`);
  }
  return url.origin;
}

async function certificates(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause) => {
    throw new UsageError(`--ca ${path} cannot be read: ${explain(cause)}`, { cause });
  });
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new UsageError(`--ca ${path} holds no certificate in PEM format`);
}

type Limits = { origins: string[]; maxFiles: number; maxBytes: number; timeout: number; ca?: string };

async function look(target: string, limits: Limits, json: boolean): Promise<number> {
  const interruption = new Interruption();
  const showsProgress = process.stderr.isTTY && !json;
  const onProgress = (step: string, done: number, known: number): void => {
    if (showsProgress) process.stderr.write(`\r\x1b[K${step} ${done} of ${known}`);
  };
  try {
    const analysis = await analyze(target, { ...limits, signal: interruption.signal, onProgress });
    if (showsProgress) process.stderr.write("\r\x1b[K");
    process.stdout.write(json ? `${JSON.stringify(analysis, null, 2)}\n` : textOf(analysis));
    return analysis.files.some(({ findings }) => findings.some(({ kind }) => !hints.has(kind))) ? FAILED : DONE;
  } catch (error) {
    if (showsProgress) process.stderr.write("\r\x1b[K");
    const { by } = interruption;
    process.stderr.write(
      `millrace: ${by ? `stopped by ${by}` : printable(explain(error).replace("tls.ca", "--ca"))}\n`,
    );
    return by ? interrupted[by] : WRONG_USAGE; // 1 says that there are findings
  } finally {
    interruption.end();
  }
}

function textOf({ target, files, elsewhere, limits, sent, best }: Analysis): string {
  const listed = files.filter(({ findings }) => findings.length > 0).map((file) => `${linesOf(file)}\n`).join("");
  const count = files.flatMap(({ findings }) => findings).filter(({ kind }) => !hints.has(kind)).length;
  const saved = sent > best ? `; precompress would save ${formatBytes(sent - best)} of them` : "";
  return `${listed}${printable(target)}: ${counted(files.length, "file")}, ${formatBytes(sent)} sent${saved}\n` +
    `${count === 0 ? "nothing found" : counted(count, "finding")}` +
    `${elsewhere > 0 ? `; ${counted(elsewhere, "reference")} to other origins not looked at` : ""}\n` +
    limits.map((limit) => `not all was looked at: ${printable(limit)}\n`).join("");
}

function linesOf({ url, findings }: AnalyzedFile): string {
  const lines = findings.map(({ kind, message }) =>
    `  ${hints.has(kind) ? "hint: " : ""}${kind}: ${printable(message)}\n`
  );
  return `${printable(url)}\n${lines.join("")}`;
}
