import { readsOnAfterAnswer, writeStream } from "../../runtime/mod.ts";
import { Pause } from "../../timers/mod.ts";
import type { Answer } from "./incoming.ts";
import type { Handled } from "./handle_upload.ts";

/** The maximum wait in ms for {@linkcode MAX_DRAINED_BYTES} bytes, and before the end of a delayed response. */
const SHORT_LINGER_TIMEOUT = 500;
/** The delay in ms of a response if only a delay keeps the runtime from receiving the whole body. */
const ANSWER_DELAY = 250;
/** The time in ms within which a sender must send more bytes to count as still sending. */
const MOMENT_MS = 20;

/** The maximum bytes left to a server that keeps receiving: before the response it buffers up to 700 MB a second. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024;

/** The error that closes a connection if only a failure does so. Deno prints it. */
const CUT = "An upload was refused, and its connection closed since more of it might have come";

function responseOf({ status, fields, body }: Answer): Response {
  const headers = body === undefined ? fields : { ...fields, "Content-Length": String(body.length) };
  return new Response(body as BodyInit | undefined, { status, headers });
}

/** Returns the response to an unfinished request. Its end is delayed: servers close then, or read all of the body. */
export async function lingeringResponse(handled: Handled, request: Request): Promise<Response> {
  const { bytes } = handled;
  const { body, headers } = request;
  // A request without a Host field is one of HTTP/2, whose streams end separately, without a Connection field.
  const isAlone = !headers.has("host");
  const last = handled.isLast && !isAlone && { Connection: "close" };
  const answer = { ...handled.answer, fields: { ...handled.answer.fields, ...last } };
  if (answer.status < 300 || body === null || answer.body === undefined) return responseOf(answer);
  if (bytes > 0 && String(bytes) === headers.get("content-length")) return responseOf(answer);
  // A body with a reader stays with that reader. Other bodies are abandoned, unless the runtime itself writes them to disk.
  if (body.locked && writeStream === undefined) return responseOf(answer);
  const readsOn = readsOnAfterAnswer && !isAlone;
  const length = Number(headers.get("content-length") ?? (headers.has("transfer-encoding") ? Infinity : 0));
  if (readsOn && length - bytes <= MAX_DROPPED_BYTES) return responseOf(answer);
  const rest = new RestOfBody(body);
  // Reads one byte to find out whether an abandoned read is still pending: the connection can be closed only if none is.
  const hasEnded = readsOn
    ? request.bodyUsed && await dropped(rest, 1, MOMENT_MS)
    : await dropped(rest, MAX_DRAINED_BYTES, length <= MAX_DRAINED_BYTES ? SHORT_LINGER_TIMEOUT : 0);
  return hasEnded ? responseOf(answer) : heldBack(answer.body, answer, rest, isAlone);
}

function heldBack(body: Uint8Array, { status, fields }: Answer, rest: RestOfBody, isAlone: boolean): Response {
  const readsOn = readsOnAfterAnswer && !isAlone;
  const ms = rest.isHeld ? ANSWER_DELAY : SHORT_LINGER_TIMEOUT;
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let isSent = false;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!isSent) {
        isSent = true;
        return controller.enqueue(body);
      }
      const hasEnded = await dropped(rest, readsOn ? 0 : MAX_LINGER_BYTES, ms, left);
      // After a failure, a connection whose body is awaited would stay open for ever, even after its sender leaves.
      if (!hasEnded && readsOn && !rest.isReading) controller.error(CUT);
      else controller.close();
      void rest.cancel();
    },
    cancel: () => leave(),
  }, { highWaterMark: 0 });
  const headers = { ...fields, "Content-Length": String(body.length), ...(!isAlone && { Connection: "close" }) };
  return new Response(stream, { status, headers });
}

/** Drops received bytes, and returns whether the body has ended; with `left`, waits until `ms` are over or the sender has left. */
async function dropped(rest: RestOfBody, mostBytes: number, ms: number, left?: Promise<void>): Promise<boolean> {
  const pause = new Pause();
  const over = left === undefined ? pause.wait(ms) : Promise.race([pause.wait(ms), left]);
  const hasEnded = await rest.drop(mostBytes, over);
  if (left !== undefined && !hasEnded) await over;
  pause.end();
  return hasEnded;
}

/** The maximum bytes that are read from a sender after its response. */
export const MAX_LINGER_BYTES: number = 1024 * 1024;
/** The time in ms that a sender has to notice its response: closing while it sends would reset the connection. */
export const LINGER_TIMEOUT = 2000;
/** The minimum rest of a body that closes a connection: a shorter rest is awaited, so that the connection can be reused. */
export const MAX_DRAINED_BYTES: number = 64 * 1024;

/** The rest of a refused request body, to be drained or abandoned. */
class RestOfBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined;
  #reading: Promise<number | undefined> | undefined = undefined;
  isReading = false;

  constructor(body: ReadableStream<Uint8Array>) {
    if (body.locked) return;
    this.#reader = body.getReader();
    this.#reader.closed.catch(() => {}); // the sender has left
  }

  get isHeld(): boolean {
    return this.#reader === undefined;
  }

  /** Reads and drops up to `maxBytes`, until `over` is fulfilled; returns whether the body has ended. */
  async drop(maxBytes: number, over: Promise<unknown>): Promise<boolean> {
    if (this.#reader === undefined) return false;
    const stopped = over.then(() => "stopped" as const);
    for (let bytes = 0; bytes < maxBytes;) {
      if (this.#reading === undefined) {
        this.isReading = true;
        this.#reading = this.#reader.read().then(({ value }) => value?.length, () => undefined)
          .finally(() => this.isReading = false);
      }
      const read = await Promise.race([this.#reading, stopped]);
      if (read === "stopped") return false;
      this.#reading = undefined;
      if (read === undefined) return true;
      bytes += read;
    }
    return false;
  }

  async cancel(): Promise<void> {
    await this.#reader?.cancel().catch(() => {}); // it may have failed already
  }
}
