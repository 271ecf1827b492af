import { joinBytes } from "../streams/internal.ts";
import { type BodySource, chunkBytes, encodedBody, inThisTurn, PAUSED, plainBody } from "./encoded_body.ts";
import { encodeWhole, openBodyEncoder, unlessItFails } from "./encoding.ts";
import type { CompressionCoding, Settings } from "./options.ts";
import { chooseCoding, markEncoded, type ResponseFields } from "./policy.ts";

/** The largest body in bytes that is compressed in one call: it is held in memory, and the thread is busy meanwhile. */
const LARGEST_WHOLE = 256 * 1024;

/** The fields of a `Response`, which may be immutable, as those of `fetch()` are: changes are made to a copy. */
class HeaderFields implements ResponseFields {
  readonly #original: Headers;
  #copy: Headers | undefined;

  constructor(original: Headers) {
    this.#original = original;
  }

  /** The fields with all changes. */
  get headers(): Headers {
    return this.#copy ?? this.#original;
  }

  get(name: string): string | undefined {
    return this.headers.get(name) ?? undefined;
  }

  set(name: string, value: string): void {
    this.#changed().set(name, value);
  }

  delete(name: string): void {
    if (this.headers.has(name)) this.#changed().delete(name);
  }

  /** Returns `response` with the changes; made anew only if its own headers cannot be changed. */
  giveTo(response: Response): Response {
    const { headers } = this;
    if (headers === response.headers) return response;
    try {
      headers.forEach((value, name) => {
        if (name !== "set-cookie" && response.headers.get(name) !== value) response.headers.set(name, value);
      });
      return response;
    } catch {
      return this.make(response, response.body); // a TypeError: they are immutable
    }
  }

  /** Makes a response with the changes and another body. */
  make({ status, statusText }: Response, body: BodyInit | null): Response {
    return new Response(body, { status, statusText, headers: this.headers });
  }

  #changed(): Headers {
    return this.#copy ??= new Headers(this.#original);
  }
}

/** Returns `response` with a compressed body, or as it is. */
export function compressResponse(settings: Settings, request: Request, response: Response): Response {
  const fields = new HeaderFields(response.headers);
  const coding = codingFor(settings, request, response, fields);
  if (coding === undefined) return fields.giveTo(response);
  if (request.method === "HEAD") return headOnly(coding, fields, response);
  const reader: BodySource["reader"] = response.body!.getReader();
  return stream(settings, coding, fields, response, { reader, begun: [], reading: undefined });
}

/** As {@linkcode compressResponse}, but a body that is there within this turn is compressed in one call. */
export async function compressReady(settings: Settings, request: Request, response: Response): Promise<Response> {
  const fields = new HeaderFields(response.headers);
  const coding = codingFor(settings, request, response, fields);
  if (coding === undefined) return fields.giveTo(response);
  if (request.method === "HEAD") return headOnly(coding, fields, response);
  const source = await begin(response.body!.getReader());
  if (source instanceof Uint8Array) return whole(settings, coding, fields, response, source);
  return stream(settings, coding, fields, response, source);
}

function codingFor(
  settings: Settings,
  request: Request,
  response: Response,
  fields: HeaderFields,
): CompressionCoding | undefined {
  const { method, url, headers } = request;
  const { status } = response;
  const coding = chooseCoding(settings, { method, url, accepted: headers.get("accept-encoding"), status, fields });
  if (coding === undefined) return undefined;
  // Not looked at any earlier: a body that has been looked at is a stream for Deno.serve(), whose length is not known.
  if (response.body === null && method !== "HEAD") return undefined;
  if (!response.bodyUsed && !response.body?.locked) return coding;
  settings.warn("a response is sent as it is: its body has been read already, or is being read");
  return undefined;
}

/** A stream, since servers tell of a body that is null that its length is 0, which it isn't for GET. */
function headOnly(coding: CompressionCoding, fields: HeaderFields, response: Response): Response {
  void response.body?.cancel().catch(() => {});
  return encoded(
    coding,
    fields,
    response,
    new globalThis.ReadableStream({ pull: (controller) => controller.close() }, { highWaterMark: 0 }),
  );
}

/** Reads what is there of a body without waiting for more: all of it, or its beginning. */
async function begin(reader: BodySource["reader"]): Promise<Uint8Array | BodySource> {
  const begun: Uint8Array[] = [];
  let length = 0;
  while (length < LARGEST_WHOLE) {
    const reading = reader.read();
    const read = await inThisTurn(reading).catch((): typeof PAUSED => PAUSED); // whoever reads the body on has the error
    if (read === PAUSED) return { reader, begun, reading };
    if (read.done) return begun.length === 1 ? begun[0] : joinBytes(begun, length);
    if (!isChunk(read.value)) return { reader, begun, reading }; // as above
    const bytes = chunkBytes(read.value);
    begun.push(bytes);
    length += bytes.length;
  }
  return { reader, begun, reading: undefined };
}

function isChunk(value: unknown): boolean {
  return ArrayBuffer.isView(value) || typeof value === "string";
}

function whole(
  settings: Settings,
  coding: CompressionCoding,
  fields: HeaderFields,
  response: Response,
  bytes: Uint8Array,
): Response {
  const small = bytes.length < settings.threshold
    ? undefined
    : unlessItFails(settings, coding, () => encodeWhole(settings, coding, bytes));
  if (small === undefined) return fields.make(response, bytes as BodyInit);
  markEncoded(fields, coding);
  fields.set("content-length", String(small.length));
  return fields.make(response, small);
}

function stream(
  settings: Settings,
  coding: CompressionCoding,
  fields: HeaderFields,
  response: Response,
  source: BodySource,
): Response {
  const encoder = unlessItFails(settings, coding, () => openBodyEncoder(settings, coding, fields.get("content-type")));
  if (encoder === undefined) return fields.make(response, plainBody(source));
  return encoded(coding, fields, response, encodedBody(source, encoder));
}

function encoded(coding: CompressionCoding, fields: HeaderFields, response: Response, body: BodyInit | null): Response {
  markEncoded(fields, coding);
  return fields.make(response, body);
}
