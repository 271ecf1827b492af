import { Buffer } from "node:buffer";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { within } from "../support/waits.ts";
import { bin } from "./published.ts";

/** A place in a file, as the language service protocol has it: numbers begin with 0. */
interface Location {
  readonly uri: string;
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
}

/** The target of an editor's "go to definition". */
export interface Definition {
  readonly path: string;
  /** The text from the definition to the end of its line. */
  readonly text: string;
}

/**
 * Asks the compiler's language service for the definition of the last occurrence of each word in a file.
 *
 * @see {@link https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/}
 */
export async function definitionsOf(path: string, words: readonly string[]): Promise<Map<string, Definition>> {
  const text = await readFile(path, "utf8");
  const uri = pathToFileURL(path).href;
  const service = new LanguageService(spawn(join(bin, "tsc"), ["--lsp", "--stdio"]));
  try {
    await service.ask("initialize", { processId: null, rootUri: new URL(".", uri).href, capabilities: {} });
    service.send({ method: "initialized", params: {} });
    const textDocument = { uri, languageId: "typescript", version: 1, text };
    service.send({ method: "textDocument/didOpen", params: { textDocument } });
    const found = new Map<string, Definition>();
    for (const word of words) {
      const before = text.slice(0, text.lastIndexOf(word)).split("\n");
      const position = { line: before.length - 1, character: before.at(-1)!.length };
      const answer = await service.ask("textDocument/definition", { textDocument: { uri }, position });
      const [place] = [answer].flat() as Location[];
      const { line, character } = place.range.start;
      const definition = fileURLToPath(place.uri);
      const lines = (await readFile(definition, "utf8")).split("\n");
      found.set(word, { path: definition, text: lines[line].slice(character) });
    }
    return found;
  } finally {
    service.process.kill();
  }
}

/** A client of a language service: messages of JSON with a header for their length. */
class LanguageService {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #answers = new Map<number, (result: unknown) => void>();
  #received = Buffer.alloc(0);

  constructor(process: ChildProcessWithoutNullStreams) {
    this.process = process;
    process.stdout.on("data", (bytes: Buffer) => this.#receive(bytes));
    process.stderr.resume();
  }

  send(message: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  ask(method: string, params: object): Promise<unknown> {
    const id = this.#answers.size + 1;
    const answered = new Promise((resolve) => this.#answers.set(id, resolve));
    this.send({ id, method, params });
    return within(answered, method, 60_000);
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const start = this.#received.indexOf("\r\n\r\n") + 4;
      const length = Number(/Content-Length: (\d+)/.exec(this.#received.toString("latin1", 0, start))?.[1]);
      if (start < 4 || !(this.#received.length >= start + length)) return;
      const { id, method, result, error } = JSON.parse(this.#received.toString("utf8", start, start + length));
      this.#received = this.#received.subarray(start + length);
      if (method === undefined) this.#answers.get(id)?.(result ?? Promise.reject(new Error(JSON.stringify(error))));
      else if (id !== undefined) this.send({ id, result: null }); // a question about the client's settings
    }
  }
}
