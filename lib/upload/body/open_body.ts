import type { Readable } from "node:stream";
import { readsAheadOfChunks } from "../../runtime/mod.ts";
import type { BodyReader } from "./body_reader.ts";
import type { BodySource } from "./body_source.ts";
import { ByteStreamBody } from "./byte_stream_body.ts";
import { NodeBody } from "./node_body.ts";
import type { InnerOptions } from "./save_options.ts";
import { StreamBody } from "./stream_body.ts";
import type { StreamTraits } from "./stream_traits.ts";

/**
 * Begins to read a body.
 *
 * @throws {TypeError} if it is no body, or is or was read by somebody else.
 */
export function openBody(
  source: BodySource,
  { leavesBody = false, ownsChunks = false }: InnerOptions = {},
): BodyReader {
  if (typeof source !== "object" || source === null) throw notABody(source);
  if (isStream(source)) {
    return openStream(source, { isReceived: false, leavesBody, ownsChunks: false, readsAhead: false });
  }
  if ("body" in source && isBodyMixin(source)) {
    if (source.bodyUsed) throw new TypeError("The body of the request has been read already");
    if (source.body === null) return emptyBody;
    const readsAhead = readsAheadOfChunks && source.headers.has("transfer-encoding");
    return openStream(source.body, { isReceived: true, leavesBody, ownsChunks, readsAhead });
  }
  if (isReadable(source)) return new NodeBody(source);
  throw notABody(source);
}

/** The body of a request without one. */
const emptyBody: BodyReader = {
  isHeldBack: false,
  read: () => Promise.resolve(undefined),
  release: () => {},
  cancel: () => Promise.resolve(),
};

function openStream(stream: ReadableStream<Uint8Array>, traits: StreamTraits): BodyReader {
  if (stream.locked) throw new TypeError("The body is being read by somebody else: its stream is locked");
  let reader: ReadableStreamBYOBReader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    return new StreamBody(stream.getReader(), traits); // its source gives chunks as it likes
  }
  return new ByteStreamBody(reader, traits);
}

function isStream(source: object): source is ReadableStream<Uint8Array> {
  return typeof (source as { getReader?: unknown }).getReader === "function";
}

function isBodyMixin(source: object): source is Request | Response {
  const { body, headers } = source as { body: unknown; headers?: { get?: unknown } };
  return (body === null || (typeof body === "object" && isStream(body))) && typeof headers?.get === "function";
}

function isReadable(source: object): source is Readable {
  const { on, read } = source as { on?: unknown; read?: unknown };
  return typeof on === "function" && typeof read === "function";
}

function notABody(source: unknown): TypeError {
  return new TypeError(
    `the source must be a Request, a ReadableStream or a request of node:http, not ${String(source)}`,
  );
}
