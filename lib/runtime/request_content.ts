import { Buffer } from "node:buffer";
import type { Stats } from "node:fs";
import type { Readable } from "node:stream";

type Content = Uint8Array<ArrayBuffer> | Blob;

/** A function that takes the content of a Request; undefined for a Request made with a stream, whose content is not taken. */
export type ContentTaker = () => Promise<Content | undefined>;

/**
 * Finds out whether a Request was made with a stream. If not, its whole content is available, with a known length. Must
 * be called before `body` is read, and the returned function while the body is neither locked nor used.
 *
 * - Node: a Request with a stream as its body cannot be the input of a `no-cors` Request
 * (https://fetch.spec.whatwg.org/#dom-request, step 39).
 * - Deno stores the original body of a Request in a property named by a symbol.
 * - Bun's inspection shows the size of available content, none for a part of a file, and `0 KB` for a stream, or after
 * `body` was read.
 */
export function contentTaker(request: Request): ContentTaker {
  if (!("Bun" in globalThis)) return () => "Deno" in globalThis ? takeFromDeno(request) : takeByStandard(request);
  const isThere = /^Request (?:\{|\((?!0 KB\)))/.test(bun().inspect(request));
  return () => isThere ? request.blob() : Promise.resolve(undefined);
}

/** Reads the names that only Bun's output has: of files appended under another name, and of paths. */
export function namesInForm(form: FormData): Promise<(string | undefined)[]> | undefined {
  const values = Array.from(form.values());
  if (!("Bun" in globalThis) || !values.some((value) => (value as Partial<File>).name !== undefined)) return undefined;
  return new Response(form).arrayBuffer().then((written) => namesIn(Buffer.from(written), values));
}

function namesIn(written: Buffer, values: readonly FormDataEntryValue[]): (string | undefined)[] {
  const delimiter = `\r\n${written.toString("latin1", 0, written.indexOf("\r\n"))}\r\n`;
  let from = delimiter.length - 2;
  const names = values.map((value) => {
    const line = written.toString("utf8", from, written.indexOf("\r\n", from));
    const [, name] = /^Content-Disposition: form-data; name="[^"]*"; filename="([^"]*)"$/.exec(line) ?? [];
    if (from === -1 || (name === undefined) !== (typeof value === "string")) throw unnamed();
    const next = written.indexOf(delimiter, from);
    from = next === -1 ? -1 : next + delimiter.length;
    return (value as Partial<File>).name === undefined ? undefined : name;
  });
  if (from !== -1) throw unnamed();
  return names;
}

function unnamed(): TypeError {
  return new TypeError("the names of the form's files cannot be read as the runtime writes them: send its bytes");
}

/** Returns the value of a fulfilled promise, if the runtime can show it. */
export function peek<T>(promise: Promise<T>): T | undefined {
  const seen = "Bun" in globalThis ? bun().peek(promise) : promise;
  return seen === promise ? undefined : seen as T;
}

/** The key under which the web streams of Node, Bun and this package store whether they were read or cancelled. */
const DISTURBED = Symbol.for("nodejs.stream.disturbed");

/** Whether a web stream or a stream of Node was read or cancelled; Deno's has a property named by its own symbol. */
export function isDisturbed(stream: object): boolean {
  const key = Object.getOwnPropertySymbols(stream).find(({ description }) => description === "[[disturbed]]");
  const marks = stream as
    & Record<symbol, unknown>
    & Partial<Pick<Readable, "readableDidRead" | "readableAborted" | "errored">>;
  // A Readable that failed unread counts as undisturbed: its error is more specific.
  const isLeft = marks.readableDidRead || (marks.readableAborted && !marks.errored);
  return (marks[key ?? DISTURBED] ?? isLeft) === true;
}

const CLAIMED: unique symbol = Symbol.for("@millrace/streams.claimed") as never;

/** Claims an iterator or a stream permanently, like a lock. @returns false if it is claimed, also by another copy. */
export function claim(object: object): boolean {
  const claimed = (globalThis as { [CLAIMED]?: WeakSet<object> })[CLAIMED] ??= new WeakSet();
  const isFree = !claimed.has(object);
  claimed.add(object);
  return isFree;
}

/** Returns the cookies of Headers as one field, if the runtime lists them joined by a comma, as on Deno. */
export function cookiesOf(headers: object): string | undefined {
  const key = Object.getOwnPropertySymbols(headers).find(({ description }) => description === "header list");
  const list = key && (headers as Record<symbol, Iterable<readonly [string, string]>>)[key];
  return list && Array.from(list).filter(([name]) => /^cookie$/i.test(name)).map(([, value]) => value).join("; ");
}

/** Reads a Blob of size 0. Bun reads no bytes of a system file without a size after reading its status, so the file is reopened. */
export async function readUnsized(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const { name } = blob as Partial<File>;
  const status = "Bun" in globalThis && typeof name === "string" ? await (blob as BunFile).stat() : undefined;
  const isUnsaid = status?.isFile() === true && status.size === 0;
  return new Uint8Array(await (isUnsaid ? bun().file(name!) : blob).arrayBuffer());
}

interface BunFile extends Blob {
  stat(): Promise<Stats | undefined>;
}

interface BunFunctions {
  file(path: string): Blob;
  inspect(value: unknown): string;
  peek(promise: Promise<unknown>): unknown;
}

function bun(): BunFunctions {
  return (globalThis as unknown as { Bun: BunFunctions }).Bun;
}

async function takeByStandard(request: Request): Promise<Content | undefined> {
  let copy: Request;
  try {
    // Other properties are left out, since such a Request could be refused for them.
    const rest: RequestInit = { headers: [], cache: "default", integrity: "", signal: null };
    copy = new Request(request, { ...rest, method: "POST", mode: "no-cors" });
  } catch {
    return undefined;
  }
  return new Uint8Array(await copy.arrayBuffer());
}

interface DenoRequest {
  readonly body?: { readonly source?: unknown } | null;
}

function takeFromDeno(request: Request): Promise<Content | undefined> {
  const key = Object.getOwnPropertySymbols(request).find(({ description }) => description === "request");
  const source = key && (request as unknown as Record<symbol, DenoRequest>)[key].body?.source;
  const content = typeof source === "string" ? new TextEncoder().encode(source) : source;
  if (!(content instanceof Uint8Array || content instanceof Blob)) return Promise.resolve(undefined);
  request.body!.cancel().catch(() => {}); // not awaited: for a cloned Request, it ends only with the copy's body
  return Promise.resolve(content as Content);
}
