import { faultOf, inTurn } from "../../codecs/internal.ts";
import {
  contentCodings,
  ContentDecoder,
  MAX_INPUT,
  type UndoableCoding,
  undoableFormats,
} from "../../semantics/mod.ts";
import type { BodyReader } from "./body_source.ts";
import { UploadError } from "./upload_error.ts";

/** The maximum number of codings of one body, each of which costs memory and time. */
const MAX_CODINGS = 3;
/** The maximum number of bytes of a decoded piece; each layer has two. */
const MAX_OUTPUT = 64 * 1024;

/** The codings that can be undone, as the value of `Accept-Encoding` in responses with the status 415. */
export const ACCEPTED_CODINGS: string = Object.keys(undoableFormats).join(", ");

/** Undoes content codings while the body is read, so that a small body that expands to gigabytes is decoded only up to the limit. */
export function decodedBody(body: BodyReader, contentEncoding: string, maxBytes: number): BodyReader {
  // A coding applied to compressed bytes hardly shrinks them, so the inner layers are about as large as the output.
  const between = maxBytes + Math.ceil(maxBytes / 50) + 4096;
  return requireCodings(contentEncoding).reduceRight<BodyReader>(
    (layer, coding, index) => decodedLayer(layer, coding, index === 0 ? maxBytes : between),
    body,
  );
}

/** Lists the codings of a field in the order in which they were applied. @throws {UploadError} `UNSUPPORTED`. */
export function requireCodings(field: string): UndoableCoding[] {
  const found = contentCodings(field).map((coding) => {
    if (typeof coding === "string") return coding;
    const message = `The content coding ${JSON.stringify(coding.unknown)} is not accepted: use ${ACCEPTED_CODINGS}`;
    throw new UploadError("UNSUPPORTED", message);
  });
  if (found.length <= MAX_CODINGS) return found;
  const message = `The body has ${found.length} content codings, and at most ${MAX_CODINGS} are accepted`;
  throw new UploadError("UNSUPPORTED", message);
}

/** Undoes one coding. A piece's memory is reused by the next piece but one. */
function decodedLayer(body: BodyReader, coding: UndoableCoding, maxBytes: number): BodyReader {
  const pieces = decodedPieces(body, coding, maxBytes);
  let isWhole = false;
  let failure: { readonly reason: unknown } | undefined;
  const throwIfEnded = (): void => {
    if (failure) throw failure.reason;
  };
  return {
    get isPaused() {
      return body.isPaused;
    },
    async read() {
      throwIfEnded();
      const next = await pieces.next().catch((reason) => void (failure ??= { reason }));
      throwIfEnded();
      isWhole = next?.done === true;
      return next?.value && [next.value];
    },
    release() {}, // two buffers are used alternately
    async cancel(reason) {
      if (!isWhole) failure ??= { reason };
      void pieces.return(undefined);
      await body.cancel(reason);
    },
  };
}

/** Yields decoded bytes when a buffer is full, or when the source has no more for now. */
async function* decodedPieces(
  body: BodyReader,
  coding: UndoableCoding,
  maxBytes: number,
): AsyncGenerator<Uint8Array, undefined> {
  let decoder: ContentDecoder | undefined;
  let target = new Uint8Array(MAX_OUTPUT);
  let other: typeof target | undefined;
  let [length, bytes] = [0, 0];
  try {
    while (!decoder?.isDone) {
      const received = await body.read();
      // The decoder opens with the first piece, so that a body that fails before its first byte costs nothing.
      const opened = decoder ??= await ContentDecoder.open(coding, received?.[0]?.[0]);
      if (received === undefined) opened.end();
      const parts = partsOf(received ?? [], MAX_INPUT);
      for (let hasWork = true; hasWork;) {
        const part = opened.needsInput ? parts.next().value : undefined;
        if (part) opened.write(part);
        hasWork = !opened.isDone && !opened.needsInput || part !== undefined;
        const decoded = hasWork ? await inTurn(() => decode(opened, target.subarray(length))) : 0;
        length += decoded;
        bytes += decoded;
        if (bytes > maxBytes) {
          const message = `The decoded body has more than the ${maxBytes} bytes that are accepted`;
          throw new UploadError("TOO_LARGE", message);
        }
        if (length === 0 || hasWork && length < target.length) continue;
        yield target.subarray(0, length);
        [target, other, length] = [other ?? new Uint8Array(MAX_OUTPUT), target, 0];
      }
      if (received !== undefined) body.release(); // the decoder has its own copy
    }
  } finally {
    decoder?.close();
  }
}

function decode(decoder: ContentDecoder, target: Uint8Array): number {
  try {
    const length = decoder.read(target);
    if (decoder.trailing === undefined) return length;
  } catch (cause) {
    throw decodingError(cause);
  }
  throw decodingError(decoder.trailing);
}

function decodingError(cause: unknown): unknown {
  if (faultOf(cause) === "window") {
    const message = "The body needs a zstd window above 8 MiB, the most that HTTP allows: use a windowLog up to 23";
    return new UploadError("UNSUPPORTED", message, { cause });
  }
  if (!(cause instanceof TypeError)) return cause; // out of memory, which is not the sender's error
  return new UploadError("MALFORMED", `The body is not what its coding promises: ${cause.message}`, { cause });
}

function* partsOf(pieces: readonly Uint8Array[], most: number): Generator<Uint8Array> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += most) yield piece.subarray(start, start + most);
  }
}
