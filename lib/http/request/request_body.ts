import { bytesOf } from "../../streams/internal.ts";
import { Buffer } from "node:buffer";
import { copyOf } from "../response/byte_queue.ts";
import type { RequestBody } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { HttpRequestBody } from "../http_request.ts";
import { type ContentTaker, contentTaker, namesInForm, readUnsized } from "../../runtime/mod.ts";
import { type BodySource, type ExtractedBody, requireUnlocked, StreamBody } from "./stream_body.ts";

const ofBlobs: Record<"type" | "size", PropertyDescriptor> = Object.getOwnPropertyDescriptors(Blob.prototype);

/** Returns a Blob's type by the runtime's own getter, whatever its class defines; empty if no header can contain it. */
function typeOfBlob(blob: Blob): string {
  const type = String(read(blob, "type"));
  return /^[ -~]*$/.test(type) ? type : "";
}

/** Returns a Blob's size in bytes by the runtime's own getter, whatever its class defines. @throws {HttpError} INVALID_BODY if it has none. */
function sizeOfBlob(blob: Blob): number {
  const size = read(blob, "size");
  if (Number.isSafeInteger(size) && size as number >= 0) return size as number;
  throw new HttpError("INVALID_BODY", `The body cannot be a Blob of unknown size (${size}): send its stream()`);
}

function read(blob: Blob, name: "type" | "size"): unknown {
  try {
    return ofBlobs[name].get!.call(blob);
  } catch (cause) {
    const message = "The body cannot be something that only looks like a Blob: use one of the runtime's, or a stream";
    throw new HttpError("INVALID_BODY", message, { cause });
  }
}

class BlobBody implements BodySource {
  readonly #parts: readonly (Uint8Array | Blob)[];
  readonly length: number;
  readonly replayable = true;

  constructor(parts: readonly (Uint8Array | Blob)[]) {
    this.#parts = parts;
    this.length = parts.reduce((sum, part) => sum + (part instanceof Blob ? sizeOfBlob(part) : part.length), 0);
  }

  open(): RequestBody {
    return new StreamBody(chunksOf(this.#parts), this.length).open();
  }

  /** Reads a content of size 0, such as an unreadable file; on Bun also a file whose size the system does not know. */
  settle(): Promise<BodySource> | undefined {
    const isUnsized = (part: Uint8Array | Blob): part is Blob => part instanceof Blob && sizeOfBlob(part) === 0;
    if (!this.#parts.some(isUnsized)) return undefined;
    const read = this.#parts.map((part) => isUnsized(part) ? whole(() => readUnsized(part)) : part);
    return Promise.all(read).then((parts) =>
      parts.length === 1 ? new BytesBody(parts[0] as Uint8Array) : new BlobBody(parts)
    );
  }
}

/** Reads the content of a body. @throws {HttpError} BODY_FAILED if it cannot be read, such as a deleted file. */
async function whole<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw unreadable(cause);
  }
}

function unreadable(cause: unknown): HttpError {
  return new HttpError("BODY_FAILED", `The request's body failed: ${(cause as Error)?.message ?? cause}`, { cause });
}

async function* chunksOf(parts: readonly (Uint8Array | Blob)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Blob) yield* chunksOfBlob(part);
    else yield part;
  }
}

async function* chunksOfBlob(blob: Blob): AsyncGenerator<Uint8Array> {
  let left = sizeOfBlob(blob);
  for await (const chunk of blob.stream()) {
    yield chunk.length > left ? chunk.subarray(0, left) : chunk;
    left -= chunk.length;
    if (left <= 0) return; // on Bun 1.3, a slice's stream continues to the end of the whole
  }
}

const encoder = new TextEncoder();

function formSource(form: FormData, entries: readonly FormEntry[], boundary: string): BodySource {
  try {
    const named = namesInForm(form);
    if (named === undefined) return new BlobBody(formParts(entries, boundary, []));
    named.catch(() => {}); // a rejection is reported when it is settled
    const settle = async (): Promise<BodySource> => {
      const body = new BlobBody(formParts(entries, boundary, await whole(() => named)));
      return await body.settle() ?? body;
    };
    const open = (): RequestBody => {
      throw new Error("Cannot open a form before its names are known");
    };
    return { length: undefined, replayable: true, open, settle };
  } catch (cause) {
    throw unreadable(cause);
  }
}

type FormEntry = [string, FormDataEntryValue];

function formParts(
  entries: readonly FormEntry[],
  boundary: string,
  names: (string | undefined)[],
): (Uint8Array | Blob)[] {
  const parts: (Uint8Array | Blob)[] = [];
  let text = "";
  for (const [at, [name, value]] of entries.entries()) {
    text += `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(withLineEnds(name))}"`;
    if (typeof value === "string") {
      text += `\r\n\r\n${withLineEnds(value)}\r\n`;
      continue;
    }
    // On Bun, a Blob appended without a name has none; elsewhere it becomes a File of this name.
    const written = names[at] ?? escaped(String(value.name ?? "blob"));
    text += `; filename="${written}"\r\nContent-Type: ${typeOfBlob(value) || "application/octet-stream"}\r\n\r\n`;
    parts.push(encoder.encode(text), value);
    text = "\r\n";
  }
  parts.push(encoder.encode(`${text}--${boundary}--\r\n`));
  return parts;
}

function withLineEnds(text: string): string {
  return text.replace(/\r\n?|\n/g, "\r\n");
}

function escaped(name: string): string {
  return name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

/**
 * Converts `init.body`. A stream becomes locked; the announced length counts only for streams.
 * @throws {HttpError} INVALID_BODY if it cannot be sent: of a wrong type, a stream that is locked or was read.
 * @see {@link https://fetch.spec.whatwg.org/#concept-bodyinit-extract}
 */
export function extractBody(body: HttpRequestBody, length: number | undefined): ExtractedBody {
  // Of Node's ways to encode a short string, this takes a fifth of TextEncoder's time.
  if (typeof body === "string") return { source: new BytesBody(Buffer.from(body)), type: "text/plain;charset=UTF-8" };
  if (typeof body !== "object") throw notABody(body);
  const bytes = bytesOf(body);
  if (bytes !== undefined) return { source: new BytesBody(copyOf(bytes)), type: undefined };
  if (body instanceof Blob) return { source: new BlobBody([body]), type: typeOfBlob(body) || undefined };
  if (body instanceof URLSearchParams) {
    const type = "application/x-www-form-urlencoded;charset=UTF-8";
    return { source: new BytesBody(Buffer.from(body.toString())), type };
  }
  if (body instanceof FormData) {
    const boundary = `----millrace${crypto.randomUUID().replaceAll("-", "")}`;
    return { source: formSource(body, Array.from(body), boundary), type: `multipart/form-data; boundary=${boundary}` };
  }
  if (StreamBody.isReadable(body)) return { source: new StreamBody(body, length), type: undefined };
  throw notABody(body);
}

/** Ends the body of a call that never took it over: an unread stream, or an iterator. Other bodies are left alone. */
export function endUntaken(body: unknown, reason: unknown): void {
  if (typeof body !== "object" || body === null || !StreamBody.isReadable(body)) return;
  try {
    new StreamBody(body, undefined).cancel(reason);
  } catch {
    // Another reader has the stream, and ends it.
  }
}

/** The body of a Request, which exposes only a stream: whether that was made of a text, bytes, a form or a Blob is found out before it is sent. */
export class RequestContent implements BodySource {
  readonly length = undefined;
  readonly replayable = false;
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #take: ContentTaker;

  private constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>, take: ContentTaker) {
    this.stream = stream;
    this.#take = take;
  }

  /** @returns undefined if the Request has no body. @throws {HttpError} INVALID_BODY if the body was read from, or is locked. */
  static of(request: Request): RequestContent | undefined {
    if (request.bodyUsed) throw new HttpError("INVALID_BODY", "The body of the Request has been read already");
    const take = contentTaker(request);
    const { body } = request;
    if (body === null) return undefined;
    requireUnlocked(body);
    return new RequestContent(body, take);
  }

  open(): RequestBody {
    return new StreamBody(this.stream, undefined);
  }

  async settle(): Promise<BodySource> {
    const content = await this.take();
    if (content instanceof Blob) {
      const body = new BlobBody([content]);
      return await body.settle() ?? body;
    }
    if (content !== undefined) return new BytesBody(content);
    const stream = new StreamBody(this.stream, undefined);
    return stream.endsAtOnce() ? new BytesBody(new Uint8Array(0)) : stream;
  }

  /** Takes the content, unless the Request was made with a stream: then undefined. @throws {HttpError} BODY_FAILED if it cannot be read. */
  take(): Promise<Uint8Array<ArrayBuffer> | Blob | undefined> {
    return whole(this.#take);
  }
}

class BytesBody implements BodySource {
  readonly #bytes: Uint8Array;
  readonly length: number;
  readonly replayable = true;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.length = bytes.length;
  }

  open(): RequestBody {
    const { length } = this;
    const bytes = this.#bytes;
    const left = length > 0 ? [bytes] : [];
    return { length, bytes, read: () => Promise.resolve(left.pop()), cancel: () => void left.pop() };
  }
}

function notABody(value: unknown): HttpError {
  const kind = typeof value === "object" ? Object.prototype.toString.call(value) : typeof value;
  const advice = "use a string, bytes, a Blob, FormData, URLSearchParams, a stream or an async iterable of bytes";
  return new HttpError("INVALID_BODY", `The body cannot be ${kind}: ${advice}`);
}
