import type { Readable } from "node:stream";
import { readsAheadOfChunks } from "../../runtime/mod.ts";
import { ALGORITHMS, type DigestAlgorithm } from "../../semantics/mod.ts";
import { type Announced, announcedOf, Digester, requireExpected, tellProgress, verifyDigests } from "./announced.ts";
import { type BodyReader, type BodySource, codingOf, type StreamTraits } from "./body_source.ts";
import { decodedBody } from "./decoded_body.ts";
import { NodeBody } from "./node_body.ts";
import { BodyDeadlines, type TransferProgress } from "./pace.ts";
import { ByteStreamBody, StreamBody } from "./stream_body.ts";
import { UploadError } from "./upload_error.ts";
import type { InnerOptions, SaveBodyOptions } from "./upload_options.ts";

/** A body that is checked against the announced length and digests and the limits while it is received. */
export class MeteredBody implements BodyReader, TransferProgress {
  /** The digests that the sender announced; they are verified once {@linkcode read} has returned the end. */
  readonly digests: ReadonlyMap<DigestAlgorithm, string>;
  readonly #body: BodyReader;
  readonly #announced: Announced;
  readonly #options: SaveBodyOptions;
  readonly #digester: Digester | undefined;
  readonly #deadlines: BodyDeadlines;
  bytes = 0;
  /** The time that reads have waited for the sender, and the time at which the pending one began. */
  #waited = 0;
  #since: number | undefined = undefined;
  #isReading = false;

  constructor(body: BodyReader, announced: Announced, options: SaveBodyOptions & InnerOptions) {
    this.#body = body;
    this.#announced = announced;
    this.#options = options;
    this.digests = new Map([...announced.digests.values()].flatMap((digests) => [...digests]));
    // The algorithms of digests in trailers are known only at the end, so all are computed.
    const algorithms = announced.trailerDigests ? ALGORITHMS : [...this.digests.keys()];
    this.#digester = algorithms.length > 0 ? new Digester(algorithms) : undefined;
    this.#deadlines = new BodyDeadlines(options, this, (reason) => void body.cancel(reason));
  }

  get waited(): number {
    return this.#waited + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  get isPaused(): boolean {
    return this.#body.isPaused;
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    const reading = this.#body.read().catch((error) => this.#endIfComplete(error));
    this.#isReading = true;
    this.#time();
    const pieces = await reading;
    this.#isReading = false;
    this.#waited = this.waited;
    this.#since = undefined;
    if (pieces === undefined) this.#end();
    else this.#take(pieces);
    return pieces;
  }

  release(): void {
    this.#body.release();
    this.#time();
  }

  async cancel(reason: unknown): Promise<void> {
    this.#deadlines.stop();
    await this.#body.cancel(reason);
  }

  /** Adds the time of a read, unless backpressure held the sender back meanwhile. */
  #time(): void {
    if (this.#isReading && !this.#body.isPaused) this.#since ??= performance.now();
  }

  /** Deno reports a sender that half-closes its connection after the whole body as one that has left. */
  #endIfComplete(error: unknown): undefined {
    const hasLeft = error instanceof UploadError && error.code === "ABORTED";
    if (!hasLeft || this.bytes !== this.#announced.expectedBytes) throw error;
  }

  #take(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) this.bytes += piece.length;
    this.#digester?.update(pieces);
    tellProgress(this.bytes, this.#announced, this.#options);
  }

  #end(): void {
    this.#deadlines.stop();
    requireExpected(this.bytes, this.#announced);
    const actual = this.#digester?.finish();
    if (actual === undefined) return;
    const { digests, trailerDigests } = this.#announced;
    for (const [field, expected] of [...digests, ...(trailerDigests?.() ?? [])]) verifyDigests(field, expected, actual);
  }
}

/** @throws {TypeError} if `source` is no body, or other code has read it. */
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
  isPaused: false,
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

/** Receives a body: limited, verified, decoded. @throws {UploadError} if its announced length or digest is refused. */
export function receiveBody(
  source: BodySource,
  options: SaveBodyOptions & InnerOptions,
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
