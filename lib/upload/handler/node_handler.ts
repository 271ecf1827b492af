import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { writeInformation } from "../../runtime/mod.ts";
import { Timer } from "../../timers/mod.ts";
import { METHODS } from "./admission.ts";
import type { UploadRequest } from "./incoming.ts";
import { type Handled, handleUpload, sessionFor } from "./handle_upload.ts";
import { LINGER_TIMEOUT, MAX_DRAINED_BYTES, MAX_LINGER_BYTES } from "./lingering_response.ts";
import { pathBelow } from "./naming.ts";
import type { Settings } from "./settings.ts";

export type Next = (error?: unknown) => void;

type Routed = IncomingMessage & { readonly originalUrl?: string };

/** Answers a request to `node:http` or the compatibility API of `node:http2`. Never throws. */
export function answerNode(
  settings: Settings,
  req: IncomingMessage,
  res: ServerResponse,
  next: Next | undefined,
): void {
  if (res.headersSent || res.writableEnded) return; // other code answers, or the sender has left
  const incoming = incomingOf(settings, req, res);
  const isOurs = pathBelow(incoming.target, settings.basePath) !== undefined && METHODS.includes(incoming.method);
  if (next && !isOurs && sessionFor(settings, incoming) === undefined) return next();
  // A sender that leaves between two steps of the handler causes an error that no other listener handles.
  req.on("error", () => {});
  res.on("error", () => {});
  void handleUpload(settings, incoming, isOurs || !next ? undefined : () => next()).then((handled) => {
    if (handled !== undefined && !res.destroyed && !res.headersSent) send(handled, req, res);
  });
}

/** Answers a request that waits for a 100, by the event `request` of a given `server`: middleware runs first. */
export function answerWaiting(server: unknown, settings: Settings, req: IncomingMessage, res: ServerResponse): void {
  const read = req._read;
  req._read = (size) => {
    req._read = read;
    if (!res.headersSent) res.writeContinue();
    read.call(req, size);
  };
  const { emit } = (server ?? {}) as Partial<EventEmitter>;
  if (!emit?.call(server as EventEmitter, "request", req, res)) answerNode(settings, req, res, undefined);
}

function send({ answer, isLast }: Handled, req: IncomingMessage, res: ServerResponse): void {
  const { status, fields, body } = answer;
  const isWhole = req.complete || isShort(req);
  const length = body && { "Content-Length": String(body.length) };
  const content = req.method === "HEAD" ? undefined : body;
  if (req.httpVersionMajor >= 2) {
    res.writeHead(status, { ...fields, ...length });
    res.end(content);
    if (isWhole) return;
    // Some clients reject a response that a reset follows at once.
    const { stream } = res as unknown as { stream: ServerHttp2Stream | undefined };
    return linger(req, res, () => {
      if (stream && !stream.closed) stream.close(NO_ERROR);
      req.resume(); // discards received bytes, which would block the stream
    });
  }
  res.writeHead(status, { ...fields, ...length, ...((isLast || !isWhole) && { Connection: "close" }) });
  if (isWhole || content === undefined) {
    res.end(content);
    req.resume();
    return;
  }
  res.write(content);
  linger(req, res, () => {
    if (!res.writableEnded) res.end();
  });
}

/** Whether there is no body, or one so short that the connection can wait for the rest. */
function isShort(req: IncomingMessage): boolean {
  const { headers, httpVersionMajor } = req;
  if (headers.expect !== undefined) return false; // the body may never arrive
  const { stream } = req as unknown as { stream?: Partial<ServerHttp2Stream> };
  const isUnknown = httpVersionMajor >= 2 ? !stream?.endAfterHeaders : headers["transfer-encoding"] !== undefined;
  return Number(headers["content-length"] ?? (isUnknown ? Infinity : 0)) <= MAX_DRAINED_BYTES;
}

function incomingOf({ basePath }: Settings, req: Routed, res: ServerResponse): UploadRequest {
  const url = req.url ?? "/";
  const whole = req.originalUrl ?? url;
  // Of "/files" and "/files?a", only a slash is left.
  const mount = whole.endsWith(url) ? whole.slice(0, -url.length) : whole.replace(/\?.*$/s, "");
  return {
    method: req.method ?? "GET",
    ...(basePath === "/" ? { target: url, mount } : { target: whole, mount: "" }),
    source: req,
    bytes: 0,
    inform: (status, fields) => writeInformation(res, status, fields),
  };
}

/** `constants.NGHTTP2_NO_ERROR` of `node:http2`, which takes 25 ms to load if it is not in use. */
const NO_ERROR = 0;

/** Reads a few more bytes, then waits until the sender ends, leaves or exceeds its time; then calls `end`. */
function linger(req: IncomingMessage, res: ServerResponse, end: () => void): void {
  let bytes = 0;
  const timer = new Timer(stop);
  const take = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (bytes >= MAX_LINGER_BYTES) req.pause();
  };
  function stop(): void {
    timer.stop();
    req.off("data", take).off("end", stop).off("close", stop);
    res.off("close", stop);
    end();
  }
  req.on("data", take).on("end", stop).on("close", stop);
  res.on("close", stop);
  timer.start(LINGER_TIMEOUT);
  req.resume();
}
