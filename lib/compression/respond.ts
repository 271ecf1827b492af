import { type BodySource, encodedBody, inThisTurn, PAUSED, plainBody } from "./encoded_body.ts";
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
  if (isEmpty(request, response)) return encoded(coding, fields, response, null);
  const reader: BodySource["reader"] = response.body!.getReader();
  return stream(settings, coding, fields, response, { reader, begun: [], reading: undefined });
}

/** As {@linkcode compressResponse}, but a body that is there within this turn is compressed in one call. */
export async function compressReady(settings: Settings, request: Request, response: Response): Promise<Response> {
  const fields = new HeaderFields(response.headers);
  const coding = codingFor(settings, request, response, fields);
  if (coding === undefined) return fields.giveTo(response);
  if (isEmpty(request, response)) return encoded(coding, fields, response, null);
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
  if (response.bodyUsed || response.body?.locked) {
    settings.warn("a response is sent as it is: its body has been read already, or is being read");
    return undefined;
  }
  const { method, url, headers } = request;
  return chooseCoding(settings, {
    method,
    url,
    accepted: headers.get("accept-encoding"),
    status: response.status,
    fields,
  });
}

function isEmpty({ method }: Request, { body }: Response): boolean {
  return method === "HEAD" || body === null;
}

/** Reads what is there of a body without waiting for more: all of it, or its beginning. */
async function begin(reader: BodySource["reader"]): Promise<Uint8Array | BodySource> {
  const begun: Uint8Array[] = [];
  let length = 0;
  while (length < LARGEST_WHOLE) {
    const reading = reader.read();
    const read = await inThisTurn(reading).catch((): typeof PAUSED => PAUSED); // whoever reads the body on has the error
    if (read === PAUSED) return { reader, begun, reading };
    if (read.done) return joined(begun, length);
    if (!(read.value instanceof Uint8Array)) return { reader, begun, reading };
    begun.push(read.value);
    length += read.value.length;
  }
  return { reader, begun, reading: undefined };
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0];
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
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
  return small ? encoded(coding, fields, response, small) : fields.make(response, bytes as BodyInit);
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
