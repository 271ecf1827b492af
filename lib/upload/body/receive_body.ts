import type { Readable } from "node:stream";
import { afterPoll, readsAheadOfChunks } from "../../runtime/mod.ts";
import type { DigestAlgorithm } from "../../semantics/mod.ts";
import { type Announced, announcedOf, Digester, requireExpected, tellProgress, verifyDigests } from "./announced.ts";
import { type BodyReader, type BodySource, fieldOf, type StreamTraits } from "./body_source.ts";
import { decodedBody } from "./decoded_body.ts";
import { NodeBody } from "./gathered_body.ts";
import { ByteStreamBody, StreamBody } from "./stream_body.ts";
import { alreadyRead, UploadError } from "./upload_error.ts";
import type { InnerOptions, SaveBodyOptions } from "./upload_options.ts";
import { Interval, Timer } from "../../timers/mod.ts";

/** A body that is checked against announced length and digests, and limits. */
export class MeteredBody implements BodyReader, TransferProgress {
  /** The digests that the sender announced; they are verified once {@linkcode read} has returned the end. */
  readonly digests: ReadonlyMap<DigestAlgorithm, string>;
  readonly #body: BodyReader;
  readonly #announced: Announced;
  readonly #options: SaveBodyOptions;
  readonly #digester: Digester | undefined;
  readonly #unwatch: () => void;
  bytes = 0;
  /** The time that reads have waited for the sender, and the start of the pending read. */
  #waited = 0;
  #since: number | undefined = undefined;
  #isReading = false;

  constructor(body: BodyReader, announced: Announced, options: SaveBodyOptions & InnerOptions) {
    this.#body = body;
    this.#announced = announced;
    this.#options = options;
    this.digests = new Map([...announced.digests.values()].flatMap((digests) => [...digests]));
    this.#digester = this.digests.size > 0 ? new Digester(this.digests.keys()) : undefined;
    this.#unwatch = watchBody(options, this, (reason) => void body.cancel(reason));
  }

  get waited(): number {
    return this.#waited + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  get isPaused(): boolean {
    return this.#body.isPaused;
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    const reading = this.#body.read().catch((error) => {
      // Deno reports a sender that half-closes its connection after the whole body as one that has left.
      const hasLeft = error instanceof UploadError && error.code === "ABORTED";
      if (!hasLeft || this.bytes !== this.#announced.expectedBytes) throw error;
    }) as ReturnType<BodyReader["read"]>;
    this.#isReading = true;
    this.#time();
    const pieces = await reading;
    this.#isReading = false;
    this.#waited = this.waited;
    this.#since = undefined;
    if (pieces === undefined) {
      this.#unwatch();
      requireExpected(this.bytes, this.#announced);
      const actual = this.#digester?.finish();
      for (const [field, expected] of this.#announced.digests) verifyDigests(field, expected, actual!);
      return undefined;
    }
    for (const piece of pieces) this.bytes += piece.length;
    this.#digester?.update(pieces);
    tellProgress(this.bytes, this.#announced, this.#options);
    return pieces;
  }

  release(): void {
    this.#body.release();
    this.#time();
  }

  async cancel(reason: unknown): Promise<void> {
    this.#unwatch();
    await this.#body.cancel(reason);
  }

  #time(): void {
    if (this.#isReading && !this.#body.isPaused) this.#since ??= performance.now();
  }
}

/** @throws {TypeError} if `source` is not a body, or other code has read it. */
export function openBody(
  source: BodySource,
  { leavesBody = false, ownsChunks = false }: InnerOptions = {},
): BodyReader {
  if (isStream(source)) {
    return openStream(source, { isReceived: false, leavesBody, ownsChunks: false, readsAhead: false });
  }
  const { body, headers } = Object(source) as Partial<Request>;
  if ((body === null || isStream(body)) && typeof headers?.get === "function") {
    if ((source as Request).bodyUsed) throw alreadyRead();
    if (body === null) return emptyBody;
    const readsAhead = readsAheadOfChunks && headers.has("transfer-encoding");
    return openStream(body, { isReceived: true, leavesBody, ownsChunks, readsAhead });
  }
  const { on, read } = Object(source) as Partial<Readable>;
  if (typeof on === "function" && typeof read === "function") return new NodeBody(source as Readable);
  throw new TypeError(
    `the source must be a Request, a ReadableStream or a request of node:http, not ${String(source)}`,
  );
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
    return new StreamBody(stream.getReader(), traits); // its source chooses the size of chunks
  }
  return new ByteStreamBody(reader, traits);
}

function isStream(source: unknown): source is ReadableStream<Uint8Array> {
  return typeof (Object(source) as Partial<ReadableStream>).getReader === "function";
}

/** Receives a body: limited, verified, decoded. @throws {UploadError} if its announced length or digest is refused. */
export function receiveBody(
  source: BodySource,
  options: SaveBodyOptions & InnerOptions,
  announced: Announced = announcedOf(source, options),
): { readonly body: BodyReader; readonly digests: ReadonlyMap<DigestAlgorithm, string> } {
  const metered = new MeteredBody(openBody(source, options), announced, options);
  // The `fetch()` of a response has undone its codings.
  const coding = options.decode && !(source instanceof Response) ? fieldOf(source, "content-encoding") : undefined;
  if (coding === undefined) return { body: metered, digests: metered.digests };
  const { maxBytes = Infinity, maxDecodedBytes = maxBytes === Infinity ? 2 ** 30 : maxBytes } = options;
  try {
    return { body: decodedBody(metered, coding, Math.min(maxBytes, maxDecodedBytes)), digests: new Map() };
  } catch (error) {
    void metered.cancel(error);
    throw error;
  }
}

/** Calls `expire` when the signal aborts, the time is over or the sender is too slow; returns a function that ends the watch. */
export function watchBody(
  options: SaveBodyOptions & InnerOptions,
  pace: TransferProgress,
  expire: (reason: unknown) => void,
): () => void {
  const { signal, timeout = Infinity } = options;
  const monitor = new RateMonitor(pace, options);
  const onAbort = (): void => end(signal!.reason);
  const onTimeout = (): void => end(new UploadError("TIMEOUT", `The body was not received within ${timeout} ms`));
  const timer = new Timer(onTimeout, { afterPoll });
  // One interval for the whole upload: a timer for each chunk would cost more.
  const looking = monitor.interval === Infinity ? undefined : new Interval(monitor.interval, () => {
    try {
      const failure = monitor.look();
      if (failure !== undefined) end(failure);
    } catch (error) {
      end(error); // such as for a file whose size is unknown
    }
  });
  const stop = (): void => {
    timer.stop();
    looking?.stop();
    signal?.removeEventListener("abort", onAbort);
  };
  const end = (reason: unknown): void => {
    stop();
    expire(reason);
  };
  timer.start(timeout);
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  return stop;
}

/** The minimum time in ms that a rate is averaged over. */
const WINDOW = 30_000;
/** The number of checks of a sender in the minimum window. */
const SAMPLES_PER_WINDOW = 10;

export class RateMonitor {
  /** The time in ms between two checks; Infinity if there is no limit to check. */
  readonly interval: number;
  readonly #pace: TransferProgress;
  readonly #idleTimeout: number;
  readonly #minRate: number;
  readonly #window: number;
  #last: TransferProgress;
  #silence = 0;
  /** The bytes received in the current window, and its duration so far in ms. */
  #bytes = 0;
  #waited = 0;

  constructor(pace: TransferProgress, options: SaveBodyOptions & InnerOptions) {
    const { idleTimeout = Infinity, minRate = 0 } = options;
    // The window is at least `idleTimeout`, during which a sender may be silent.
    const { rateWindow = Math.max(WINDOW, idleTimeout === Infinity ? 0 : idleTimeout) } = options;
    this.#pace = pace;
    this.#idleTimeout = idleTimeout;
    this.#minRate = minRate;
    this.#window = minRate > 0 ? rateWindow : Infinity;
    this.interval = Math.max(1, Math.min(idleTimeout, this.#window) / SAMPLES_PER_WINDOW);
    this.#last = { bytes: 0, waited: pace.waited };
  }

  /** Checks the rate, once each {@linkcode interval}; returns an error if the sender is too slow. */
  look(): UploadError | undefined {
    const { bytes, waited } = this.#pace;
    const received = bytes - this.#last.bytes;
    // A late check means that this process was busy or suspended, and that bytes may be unread.
    const ms = Math.min(waited - this.#last.waited, 2 * this.interval);
    this.#last = { bytes, waited };
    this.#silence = received > 0 ? 0 : this.#silence + ms;
    if (this.#silence >= this.#idleTimeout) {
      return new UploadError("TIMEOUT", `Nothing of the body was received for ${this.#idleTimeout} ms`);
    }
    this.#bytes += received;
    this.#waited += ms;
    if (this.#waited < this.#window) return undefined;
    const [came, seconds] = [this.#bytes, this.#waited / 1000];
    this.#bytes = 0;
    this.#waited = 0;
    if (came >= this.#minRate * seconds) return undefined;
    const found = `${came} bytes came in ${Number(seconds.toFixed(1))} s`;
    const message = `The body comes too slowly: ${found}, and at least ${this.#minRate} a second must`;
    return new UploadError("TIMEOUT", message);
  }
}

export interface TransferProgress {
  readonly bytes: number;
  /** The time in ms spent waiting for the sender so far, without times of backpressure. */
  readonly waited: number;
}
