import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A response of llhttp's tests, and llhttp's result. */
export interface LlhttpCase {
  /** Its file and headline. */
  readonly name: string;
  readonly input: Uint8Array;
  /** Statuses of the responses whose heads are whole. */
  readonly statuses: readonly number[];
  /** The bytes of all bodies. */
  readonly body: string;
  /** Whether llhttp refuses it. */
  readonly isRefused: boolean;
}

const FILES = [
  "sample",
  "connection",
  "content-length",
  "transfer-encoding",
  "invalid",
  "finish",
  "pausing",
  "pipelining",
];

/** Decodes the escapes for bytes that a page can't hold; undefined if the text is a program. */
function unescaped(text: string): Uint8Array | undefined {
  if (text.includes("${")) return undefined;
  const plain = text.replace(/\n$/, "").replace(/\\\n/g, "").replace(/\r?\n/g, "\r\n")
    .replace(/\\r/g, "\r").replace(/\\n/g, "\n").replace(/\\t/g, "\t").replace(/\\f/g, "\f")
    .replace(/\\x([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return new TextEncoder().encode(plain);
}

/** Returns the body's bytes as the log has them, line ends by name. */
function bodyOf(log: string): string {
  return [...log.matchAll(/span\[body\]=(?:"(.*)"|(cr|lf))$/gm)]
    .map(([, text, end]) => end === undefined ? text : end === "cr" ? "\r" : "\n").join("");
}

/** Returns the responses that llhttp's tests have for its strict mode. */
export function llhttpCases(root: string): LlhttpCase[] {
  const cases: LlhttpCase[] = [];
  for (const file of FILES) {
    const page = readFileSync(join(root, `test/response/${file}.md`), "utf8").replaceAll("\r\n", "\n");
    const block =
      /^#{2,3} (.+)\n[^#]*?<!-- meta=\{"type": "response"([^}]*)\} -->\n```http\n((?:(?!```)[\s\S])*)```\n\n```log\n([\s\S]*?)```/gm;
    for (const [, title, meta, text, log] of page.matchAll(block)) {
      const input = unescaped(text);
      if (input === undefined || meta.includes("skipBody")) continue;
      cases.push({
        name: `${file}: ${title}`,
        input,
        statuses: [...log.matchAll(/headers complete status=(\d+)/g)].map(([, status]) => Number(status)),
        body: bodyOf(log),
        isRefused: log.includes("error code="),
      });
    }
  }
  return cases;
}
