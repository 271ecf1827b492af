import type { Readable } from "node:stream";
import { readsAheadOfChunks } from "../../runtime/mod.ts";
import type { DigestAlgorithm } from "../../semantics/mod.ts";
import { type Announced, announcedOf } from "./announced.ts";
import { type BodyReader, type BodySource, codingOf, type StreamTraits } from "./body_source.ts";
import { decodedBody } from "./decoded_body.ts";
import { MeteredBody } from "./metered_body.ts";
import { NodeBody } from "./node_body.ts";
import { ByteStreamBody, StreamBody } from "./stream_body.ts";
import type { InnerOptions, ReceiveOptions } from "./upload_options.ts";

/** @throws {TypeError} if it is not a body, or is or was read by other code. */
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
  const message = `the source must be a Request, a ReadableStream or a request of node:http, not ${String(source)}`;
  return new TypeError(message);
}

/** Receives a body: limited, verified, decoded. @throws {UploadError} if what is announced of it is refused. */
export function receiveBody(
  source: BodySource,
  options: ReceiveOptions & InnerOptions,
  announced: Announced = announcedOf(source, options),
): { readonly body: BodyReader; readonly digests: ReadonlyMap<DigestAlgorithm, string> } {
  const metered = new MeteredBody(openBody(source, options), announced, options);
  const coding = options.decode ? codingOf(source) : undefined;
  if (coding === undefined) return { body: metered, digests: metered.digests };
  const { maxBytes = Infinity, maxDecodedBytes = maxBytes === Infinity ? 2 ** 30 : maxBytes } = options;
  try {
    const limit = Math.min(maxBytes, maxDecodedBytes);
    return { body: decodedBody(metered, coding, { maxBytes: limit }), digests: new Map() };
  } catch (error) {
    void metered.cancel(error);
    throw error;
  }
}
