import { fileSlice } from "../../runtime/mod.ts";
import { Timer } from "../../timers/mod.ts";
import { answerBusy } from "../answer/answer_resource.ts";
import { type Answer, type FileParts, valueOf } from "../answer/answer.ts";
import { isPassingRefusal } from "../scan/file_content.ts";
import { FileReader, requireReadable } from "./file_reader.ts";
import type { HandlerRequest } from "./respond.ts";
import type { Site } from "./site.ts";

/** The time in ms after which the file of an unread body is closed. */
const UNREAD_BODY_TIMEOUT = 500;

/**
 * Makes a body from parts of a file. The file of an unread body, such as when a framework answers HEAD from GET, is
 * closed after a while; a later read opens it again and compares it with the scan. A stream of type "bytes" is slower,
 * on Node by a third.
 */
export function fileBody(
  file: FileParts,
  track: (sending: Promise<void>) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let reader: FileReader | undefined;
  let done: () => void;
  const open = (): FileReader => {
    const opened = reader = new FileReader(file);
    track(new Promise((resolve) => done = resolve));
    return opened;
  };
  const leave = (): void => {
    reader?.close();
    reader = undefined;
    done();
  };
  open();
  const unread = new Timer(leave);
  unread.start(UNREAD_BODY_TIMEOUT);
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller): Promise<void> {
      unread.stop();
      try {
        const { ahead } = reader ??= open();
        // A new buffer for each piece: runtimes send from it, and do not report when they are done.
        const piece = new Uint8Array(ahead);
        const length = await reader.read(piece);
        if (length === 0) return; // the body was canceled
        controller.enqueue(length === ahead ? piece : piece.subarray(0, length));
        if (reader.ahead > 0) return;
      } catch (error) {
        done();
        throw error;
      }
      controller.close();
      done();
    },
    cancel(): void {
      unread.stop();
      leave();
    },
  }, { highWaterMark: 0 });
}

/** The maximum bytes of a file's parts that are read before the answer begins: as many as a stream would buffer. */
const READ_WHOLE = 256 * 1024;

/** Answers a `Request`: synchronously if its content is in memory. */
export function fetchFrom(site: Site, request: Request): Response | Promise<Response> {
  return send(site, request, site.respond(askedBy(request)));
}

/** Responds like {@linkcode fetchFrom}, but returns undefined if the next handler of a chain must respond. */
export function matchFrom(site: Site, request: Request): Response | Promise<Response> | undefined {
  const answer = site.respondInChain(askedBy(request));
  return answer && send(site, request, answer);
}

function askedBy({ method, url, headers }: Request): HandlerRequest {
  return { method, target: url, fields: headers, unslashed: undefined };
}

function send(site: Site, request: Request, answer: Answer): Response | Promise<Response> {
  const successor = site.successorOf(answer);
  if (successor) return successor.then(() => fetchFrom(site, request), () => answer.response());
  if (request.method === "HEAD") return new Response(null, answer.init());
  return answer.file ? fromFile(site, request, answer, answer.file) : answer.response();
}

function fromFile(site: Site, request: Request, answer: Answer, file: FileParts): Response | Promise<Response> {
  const length = Number(valueOf(answer.fields, "Content-Length"));
  if (length <= READ_WHOLE) return readWhole(site, request, answer.init(), file, length);
  const slice = bodyByServer(request, answer, file);
  const has = (name: string, value: string | undefined): boolean => valueOf(answer.fields, name) === value;
  // Bun's server would add a Content-Disposition with only the file's name.
  const isNameless = has("Content-Type", "application/octet-stream") && has("Content-Disposition", undefined);
  const init = slice && isNameless ? answer.with(["Content-Disposition", "inline"]).init() : answer.init();
  try {
    if (slice === undefined) return new Response(fileBody(file, (sending) => site.track(sending)), init);
    // Synchronously: the server opens the file when it gets the Response, and would send a file that replaced it meanwhile.
    requireReadable(file.variant);
    return new Response(slice, init);
  } catch (error) {
    return onFailure(error, site, request, file);
  }
}

async function readWhole(
  site: Site,
  request: Request,
  init: ResponseInit,
  file: FileParts,
  length: number,
): Promise<Response> {
  try {
    const bytes = new Uint8Array(length);
    const reader = new FileReader(file);
    for (let filled = 0; reader.ahead > 0;) filled += await reader.read(bytes.subarray(filled));
    return new Response(bytes, init);
  } catch (error) {
    return onFailure(error, site, request, file);
  }
}

/** Answers with a 503 if the file cannot be opened now, or without a variant whose file has changed since the scan. */
function onFailure(
  error: unknown,
  site: Site,
  request: Request,
  { variant }: FileParts,
): Response | Promise<Response> {
  if (isPassingRefusal(error)) return answerBusy(variant.resource, request.headers).response();
  site.fault(variant);
  return fetchFrom(site, request);
}

/** Returns a body that the runtime's server reads itself, for one range of a file, if it supports that. */
function bodyByServer(request: Request, { status }: Answer, { parts, variant }: FileParts): Blob | undefined {
  const [part] = parts;
  if (parts.length > 1 || part instanceof Uint8Array) return undefined;
  // Bun's server would apply a range that is to be ignored, such as by `If-Range`.
  if (status === 200 && request.headers.has("range")) return undefined;
  return fileSlice(variant.representation.file, part.start, part.end);
}
