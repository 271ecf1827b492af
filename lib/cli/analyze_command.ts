import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { type Analysis, analyze, analyzeOptions, type FindingKind, hints } from "../analyze/mod.ts";
import { explain } from "../precompress/internal.ts";
import { counted, formatBytes } from "../quantities/mod.ts";
import { printable } from "../static/internal.ts";
import { Flags, optionsByPath } from "./flags.ts";
import { Interruption } from "./signals.ts";
import { type Command, DONE, FAILED, interrupted, UsageError, WRONG_USAGE } from "./usage.ts";

export const analyzeFlags: Flags = new Flags(() => optionsByPath(analyzeOptions), [
  {
    option: "origins",
    name: "origin",
    value: "ORIGIN",
    help: "look at files of that origin, too, as in https://cdn.example; can be repeated",
  },
  { option: "maxFiles", value: "N", help: "look at no more files" },
  { option: "maxBytes", value: "BYTES", help: "load no more; k, M or G may follow the number" },
  {
    option: "timeout",
    value: "SECONDS",
    help: "load for no longer, and judge what has come for no longer than that, too",
  },
  { option: "ca", value: "FILE", help: "trust the certificates in this file, in PEM format, in place of the system's" },
  { name: "json", help: "print the analysis as JSON" },
]);

function help(): string {
  return `Looks at a page and its files as a browser does, or at a folder's as millrace serve would send them: what is
uncompressed or compressed badly, not cached or kept too long, and the bytes that precompress would save.

usage: millrace analyze URL|DIR [options]

${analyzeFlags.help()}
exit status: 0 nothing found, 1 findings, 2 wrong usage or nothing to look at, 130 or 143 interrupted
`;
}

/** `millrace analyze URL|DIR`: prints the avoidable costs of a site's files. */
export const analyzeCommand: Command = {
  help,
  async run(words) {
    const given = analyzeFlags.parse(words);
    if (given.has("help")) return "help";
    if (given.has("version")) return "version";
    const target = targetOf(given.words.slice(1)); // after the name of the command
    const origins = given.texts("origin").map(originOf);
    const ca = given.has("ca") ? await certificates(given.text("ca")!) : undefined;
    const options = { ...given.options(), origins, ca };
    let limits: Limits;
    try {
      limits = analyzeOptions(options);
    } catch (error) {
      throw given.explained(error);
    }
    return await look(target, limits, given.has("json"));
  },
};

type Limits = Omit<ReturnType<typeof analyzeOptions>, "signal" | "onProgress">;

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
  // A URL with more than an origin is a part of the site, or a page.
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
    return by ? interrupted[by] : WRONG_USAGE; // the status 1 means that there are findings
  } finally {
    interruption.end();
  }
}

function textOf({ target, files, elsewhere, limits, sent, best }: Analysis): string {
  const listed = files.filter(({ findings }) => findings.length > 0).map(({ url, findings }) => {
    const prefix = (kind: FindingKind) => `  ${hints.has(kind) ? "hint: " : ""}${kind}`;
    const lines = findings.map(({ kind, message }) => `${prefix(kind)}: ${printable(message)}\n`);
    return `${printable(url)}\n${lines.join("")}\n`;
  }).join("");
  const count = files.flatMap(({ findings }) => findings).filter(({ kind }) => !hints.has(kind)).length;
  const saved = sent > best ? `; precompress would save ${formatBytes(sent - best)} of them` : "";
  return `${listed}${printable(target)}: ${counted(files.length, "file")}, ${formatBytes(sent)} sent${saved}\n` +
    `${count === 0 ? "nothing found" : counted(count, "finding")}` +
    `${elsewhere > 0 ? `; ${counted(elsewhere, "reference")} to other origins not looked at` : ""}\n` +
    limits.map((limit) => `not all was looked at: ${printable(limit)}\n`).join("");
}
