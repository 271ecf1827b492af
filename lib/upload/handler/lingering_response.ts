import { readsOnAfterAnswer } from "../../runtime/mod.ts";
import type { Answer } from "./answer.ts";
import { Countdown, LITTLE, MOST_BYTES, MOST_MS } from "./lingering.ts";
import { RestOfBody } from "./rest_of_body.ts";

/** How long {@linkcode LITTLE} is waited for; and senders, where nothing holds them back. */
const SHORT_MS = 500;

/** The response for an answer. */
export function responseOf({ status, fields, body }: Answer): Response {
  return new Response(body as BodyInit | undefined, { status, headers: fields });
}

/**
 * The response for an answer to a request of which not all may have been read.
 *
 * As soon as a response has ended, servers close the connection at once, or read whatever still comes, without a limit.
 * Its end is therefore held back: the sender has all of it, as its length is known, and some time to stop.
 */
export async function lingeringResponse(answer: Answer, request: Request): Promise<Response> {
  if (request.body === null || answer.body === undefined) return responseOf(answer);
  const rest = new RestOfBody(request.body);
  // HTTP/2 has no Host field; there, and where there is no server at all, streams end by themselves.
  if (!request.headers.has("host")) {
    await rest.cancel();
    return responseOf(answer);
  }
  const countdown = new Countdown(isLittle(request) ? SHORT_MS : 0);
  const state = await rest.drop(LITTLE, countdown.over);
  countdown.stop();
  return state === "ended" ? responseOf(answer) : heldBack(answer.body, answer, rest);
}

function heldBack(body: Uint8Array, { status, fields }: Answer, rest: RestOfBody): Response {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let isSent = false;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!isSent) {
        isSent = true;
        return controller.enqueue(body);
      }
      const state = await linger(rest, left);
      void rest.cancel();
      if (state === "more" && readsOnAfterAnswer) controller.error("refused, and cut since more of its body came");
      else controller.close();
    },
    cancel: () => leave(),
  }, { highWaterMark: 0 });
  const headers = { ...fields, "Content-Length": String(body.length), Connection: "close" };
  return new Response(stream, { status, headers });
}

/** Waits for the sender to end, or leave, or until it had its time; of what comes, some is dropped. */
async function linger(rest: RestOfBody, left: Promise<void>): Promise<"ended" | "more"> {
  const countdown = new Countdown(readsOnAfterAnswer ? SHORT_MS : MOST_MS);
  const over = Promise.race([countdown.over, left]);
  const state = await rest.drop(MOST_BYTES, over);
  if (state === "more") await over;
  countdown.stop();
  return state;
}

function isLittle({ headers }: Request): boolean {
  const length = headers.get("content-length");
  return length === null ? !headers.has("transfer-encoding") : Number(length) <= LITTLE;
}
