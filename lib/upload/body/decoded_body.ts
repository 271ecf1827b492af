import { faultOf, inTurn } from "../../codecs/internal.ts";
import {
  contentCodings,
  ContentDecoder,
  MOST_INPUT,
  type UndoableCoding,
  undoableFormats,
} from "../../semantics/mod.ts";
import type { BodyReader } from "./body_source.ts";
import { UploadError } from "./upload_error.ts";

/** The most codings one upon the other: each takes its share of memory and time. */
const MOST_CODINGS = 3;
/** The most bytes of a piece; each layer has two. */
const MOST_OUTPUT = 64 * 1024;

/** The codings that can be undone, as a value of `Accept-Encoding`, for answers of the status 415. */
export const ACCEPTED_CODINGS: string = Object.keys(undoableFormats).join(", ");

/**
 * A body with its content codings undone, the last one first, as it is read: of a small body that stands for
 * gigabytes only what is read is made. Errors of `body` come through as they are, and none that comes up here cancels it.
 *
 * @param contentEncoding `deflate` may lack its zlib wrapper, as some senders have it.
 * @returns a body whose reads throw an {@linkcode UploadError} `MALFORMED` if what came is corrupt, ends too early or
 * goes on after its end, `TOO_LARGE` beyond `maxBytes`, or `UNSUPPORTED` if zstd asks for a window above 8 MiB.
 * @throws {UploadError} `UNSUPPORTED` if a coding is unknown, or there are more than three.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-8.4}
 */
export function decodedBody(
  body: BodyReader,
  contentEncoding: string,
  { maxBytes }: { readonly maxBytes: number },
): BodyReader {
  // What is coded a second time has been compressed before, so it is hardly larger than what comes out at the end.
  const between = maxBytes + Math.ceil(maxBytes / 50) + 4096;
  return requireCodings(contentEncoding).reduceRight<BodyReader>(
    (layer, coding, index) => new DecodedBody(layer, coding, index === 0 ? maxBytes : between),
    body,
  );
}

/** Lists the codings of a `Content-Encoding` field in the order in which they were applied. @throws as {@link decodedBody}. */
export function requireCodings(field: string): UndoableCoding[] {
  const found = contentCodings(field).map((coding) => {
    if (typeof coding === "string") return coding;
    const message = `The content coding ${JSON.stringify(coding.unknown)} is not accepted: use ${ACCEPTED_CODINGS}`;
    throw new UploadError("UNSUPPORTED", message);
  });
  if (found.length <= MOST_CODINGS) return found;
  const message = `The body has ${found.length} content codings, and at most ${MOST_CODINGS} are accepted`;
  throw new UploadError("UNSUPPORTED", message);
}

class DecodedBody implements BodyReader {
  readonly #body: BodyReader;
  readonly #coding: UndoableCoding;
  readonly #maxBytes: number;
  /** The parts of what was read that are left, and how many bytes were read. */
  #input: Iterator<Uint8Array> = partsOf([], MOST_INPUT);
  #inputLength = 0;
  #decoder: ContentDecoder | undefined = undefined;
  /** The two output buffers, used in turn: one is filled while the other is in use. */
  #targets: [Uint8Array?, Uint8Array?] = [];
  #bytes = 0;
  #isComplete = false;
  #failure: { readonly reason: unknown } | undefined = undefined;

  constructor(body: BodyReader, coding: UndoableCoding, maxBytes: number) {
    this.#body = body;
    this.#coding = coding;
    this.#maxBytes = maxBytes;
  }

  get isHeldBack(): boolean {
    return this.#body.isHeldBack;
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    try {
      this.#throwIfEnded();
      const [older = new Uint8Array(MOST_OUTPUT), newer] = this.#targets;
      this.#targets = [newer, older];
      const length = await this.#fill(older);
      return length > 0 ? [older.subarray(0, length)] : undefined;
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  release(): void {
    // What is given are our own two buffers, in turn.
  }

  async cancel(reason: unknown): Promise<void> {
    if (!this.#isComplete) this.#end(reason);
    await this.#body.cancel(reason);
  }

  #throwIfEnded(): void {
    if (this.#failure) throw this.#failure.reason;
  }

  #end(reason: unknown): void {
    this.#failure ??= { reason };
    this.#free();
  }

  #free(): void {
    this.#decoder?.close();
    this.#decoder = undefined;
    this.#input = partsOf([], MOST_INPUT);
  }

  /** Decodes until `target` is full or there is something in it and more has to be waited for; 0 at the end. */
  async #fill(target: Uint8Array): Promise<number> {
    let length = 0;
    while (length < target.length && !this.#isComplete) {
      if (this.#hasWork()) {
        length += await inTurn(() => this.#decode(target.subarray(length)));
        this.#throwIfEnded();
      } else if (length > 0) {
        break;
      } else await this.#receive();
    }
    return length;
  }

  /** Whether the decoder can go on; hands it the next input if it needs some. */
  #hasWork(): boolean {
    const decoder = this.#decoder;
    if (decoder === undefined || !decoder.needsInput) return decoder !== undefined;
    const { value: part } = this.#input.next();
    if (part) decoder.write(part);
    return part !== undefined;
  }

  #decode(target: Uint8Array): number {
    const decoder = this.#decoder;
    if (decoder === undefined) return 0; // it has ended while this step waited
    let length: number;
    try {
      length = decoder.read(target);
    } catch (cause) {
      throw decodingError(cause);
    }
    if (decoder.trailing !== undefined) throw decodingError(decoder.trailing);
    this.#bytes += length;
    if (this.#bytes > this.#maxBytes) {
      const message = `The decoded body has more than the ${this.#maxBytes} bytes that are accepted`;
      throw new UploadError("TOO_LARGE", message);
    }
    this.#isComplete = decoder.isDone;
    if (this.#isComplete) this.#free();
    return length;
  }

  async #receive(): Promise<void> {
    if (this.#inputLength > 0) this.#body.release(); // the decoder has its own copy
    const pieces = await this.#body.read();
    this.#throwIfEnded();
    this.#input = partsOf(pieces ?? [], MOST_INPUT);
    this.#inputLength = pieces?.reduce((total, { length }) => total + length, 0) ?? 0;
    if (this.#decoder === undefined) {
      // Not earlier: a body that fails before its first byte costs nothing.
      const decoder = await ContentDecoder.open(this.#coding, pieces?.[0]?.[0]);
      if (this.#failure) decoder.close();
      else this.#decoder = decoder;
      this.#throwIfEnded();
    }
    if (pieces === undefined) this.#decoder!.end();
  }
}

function decodingError(cause: unknown): unknown {
  if (faultOf(cause) === "window") {
    const message = "The body needs a zstd window above 8 MiB, the most that HTTP allows: use a windowLog up to 23";
    return new UploadError("UNSUPPORTED", message, { cause });
  }
  if (!(cause instanceof TypeError)) return cause; // out of memory, which is not the sender's fault
  return new UploadError("MALFORMED", `The body is not what its coding promises: ${cause.message}`, { cause });
}

function* partsOf(pieces: readonly Uint8Array[], most: number): Generator<Uint8Array> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += most) yield piece.subarray(start, start + most);
  }
}
