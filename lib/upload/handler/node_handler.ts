import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Answer } from "./answer.ts";
import { ALLOWED } from "./admission.ts";
import type { Settings } from "./settings.ts";
import { alreadyRead, handleUpload } from "./handle_upload.ts";
import type { Incoming } from "./incoming.ts";
import { hasLeft, leftError } from "../left_error.ts";
import { LITTLE } from "./lingering.ts";
import { endLingering, resetLingering } from "./lingering_close.ts";
import { pathBelow } from "./naming.ts";

/** Goes on to what comes after in a chain of Connect or Express. */
export type Next = (error?: unknown) => void;

/** What Connect and Express make of a request. */
type Routed = IncomingMessage & { readonly originalUrl?: string };

/** Answers a request to `node:http` or the compatible side of `node:http2`. Never throws. */
export function answerNode(
  settings: Settings,
  req: IncomingMessage,
  res: ServerResponse,
  next: Next | undefined,
): void {
  if (res.headersSent || res.writableEnded) return; // somebody else answers, or the sender has left
  const incoming = incomingOf(settings, req);
  const isOurs = pathBelow(incoming.target, settings.basePath) !== undefined && ALLOWED.includes(incoming.method);
  if (next && !isOurs) return next();
  void respond(settings, incoming, req, res, () => {});
}

/** Answers a request whose sender waits to be asked for the body: it is asked only if the body is welcome. */
export function answerWaiting(settings: Settings, req: IncomingMessage, res: ServerResponse): void {
  void respond(settings, incomingOf(settings, req), req, res, () => res.writeContinue());
}

async function respond(
  settings: Settings,
  incoming: Incoming,
  req: IncomingMessage,
  res: ServerResponse,
  welcome: () => void,
): Promise<void> {
  // Who leaves between two steps of ours makes an error that nobody else may listen to.
  req.on("error", () => {});
  res.on("error", () => {});
  const { answer } = await handleUpload(settings, incoming, () => {
    if (req.readableDidRead || req.readableEnded) throw hasLeft(req) ? leftError(req.errored) : alreadyRead();
    welcome();
    return req;
  });
  if (!res.destroyed && !res.headersSent) send(answer, req, res);
}

function send({ status, fields, body }: Answer, req: IncomingMessage, res: ServerResponse): void {
  const isWhole = req.complete || isShort(req);
  const length = body && { "Content-Length": String(body.length) };
  const content = req.method === "HEAD" ? undefined : body;
  if (req.httpVersionMajor >= 2) {
    res.writeHead(status, { ...fields, ...length });
    res.end(content);
    if (!isWhole) resetLingering(req, res);
    return;
  }
  res.writeHead(status, { ...fields, ...length, ...(!isWhole && { Connection: "close" }) });
  if (isWhole || content === undefined) {
    res.end(content);
    req.resume();
    return;
  }
  res.write(content);
  endLingering(req, res);
}

/** Whether there is no body, or so little of it that the connection can wait for the rest. */
function isShort(req: IncomingMessage): boolean {
  const { headers, httpVersionMajor } = req;
  if (headers.expect !== undefined) return false; // it may never come
  const { stream } = req as unknown as { stream?: Partial<ServerHttp2Stream> };
  const isUnknown = httpVersionMajor >= 2 ? !stream?.endAfterHeaders : headers["transfer-encoding"] !== undefined;
  return Number(headers["content-length"] ?? (isUnknown ? Infinity : 0)) <= LITTLE;
}

/** What Express and Connect leave of a path below a mount is not all of it: a base path is part of the whole. */
function incomingOf({ basePath }: Settings, req: Routed): Incoming {
  const url = req.url ?? "/";
  const whole = req.originalUrl ?? url;
  const method = req.method ?? "GET";
  if (basePath !== "/") return { method, target: whole, mount: "", source: req };
  return { method, target: url, mount: mountOf(whole, url), source: req };
}

/** What was taken off a URL. */
function mountOf(whole: string, rest: string): string {
  if (whole.endsWith(rest)) return whole.slice(0, -rest.length);
  // Of "/files" and "/files?a" there is nothing left but a slash.
  return whole.replace(/\?.*$/s, "");
}
