import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { isFromBunServer } from "../../runtime/mod.ts";
import { handleUpload } from "./handle_upload.ts";
import type { UploadHandlerOptions } from "./handler_options.ts";
import type { UploadRequest } from "./incoming.ts";
import { lingeringResponse } from "./lingering_response.ts";
import { answerNode, answerWaiting } from "./node_handler.ts";
import { type Settings, settingsOf } from "./settings.ts";

/**
 * A handler of requests that contain files.
 *
 * @example Let senders ask before they send
 * ```ts
 * import { createUploadHandler, type UploadHandler } from "@millrace/streams/upload";
 * import { createServer } from "node:http";
 *
 * const uploads: UploadHandler = createUploadHandler({ directory: "uploads", maxBytes: 1_000_000 });
 * const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 }, uploads.node);
 * server.on("checkContinue", uploads.checkContinue);
 * server.listen(8000);
 * ```
 */
export interface UploadHandler {
  /**
   * Answers a `Request`: for `Deno.serve()`, `Bun.serve()`, srvx, Hono. Bound, so it can be passed as a callback.
   *
   * @param server The server's second argument: with Bun's, forms take less memory.
   * @returns The response. The promise is never rejected.
   */
  readonly fetch: (request: Request, server?: unknown) => Promise<Response>;
  /**
   * Answers a request to `node:http`, `node:https` or `node:http2`, without a `Request`. It also works in Connect or
   * Express, before body parsers: other paths and methods are passed on to `next()`. Bound.
   */
  readonly node: (
    req: IncomingMessage | Http2ServerRequest,
    res: ServerResponse | Http2ServerResponse,
    next?: (error?: unknown) => void,
  ) => void;
  /**
   * Passes a request with `Expect: 100-continue` to the server's listeners of `request`, such as `node` or an Express
   * app: the sender gets a 100 once one of them reads the body. Use it as `server.on("checkContinue",
   * handler.checkContinue)`; without it, `node:http` requests every body. Called otherwise, it answers as `node` does.
   */
  readonly checkContinue: (
    this: unknown,
    req: IncomingMessage | Http2ServerRequest,
    res: ServerResponse | Http2ServerResponse,
  ) => void;
  /**
   * Closes the handler before its server. Further requests get 503 `BUSY`, and each response closes its connection;
   * uploads in progress continue. Resolves when all have responses; then stop the server. Bound.
   */
  readonly close: () => Promise<void>;
  /** Does what {@linkcode close} does. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Stores the files in HTTP requests in a folder or a bucket. The body of a `PUT` gets the name in its path, that of a
 * `POST` a new name. The files of a form get new names; all of them are stored, or none. Any client that can send
 * requests can store files: add authorisation before the handler.
 *
 * Stored files are reported as JSON, with `Location` for a single file; refusals as `application/problem+json` (RFC
 * 9457), with the code of an {@linkcode UploadError}, or one that the page lists, such as `NO_FOLDER`.
 *
 * @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range.
 * @throws {Error} if the folder is missing and cannot be created.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110} for HTTP
 * @see {@link https://www.rfc-editor.org/rfc/rfc7578} for forms
 * @example Store what is sent
 * ```ts
 * import { createUploadHandler } from "@millrace/streams/upload";
 *
 * const handler = createUploadHandler({ directory: "uploads", maxBytes: 1_000_000, digest: "sha-256" });
 * const request = new Request("http://localhost/note.txt", { method: "PUT", body: "all of it, or nothing" });
 * const response = await handler.fetch(request);
 * console.log(response.status, response.headers.get("location")); // 201 /note.txt
 * ```
 */
export function createUploadHandler(options: UploadHandlerOptions): UploadHandler {
  const settings = settingsOf(options);
  const close = (): Promise<void> => {
    settings.sessions?.close();
    return settings.activity.end();
  };
  return {
    fetch: (request, server) => fetchTo(settings, request, server),
    node: (req, res, next) => answerNode(settings, req as IncomingMessage, res as ServerResponse, next),
    checkContinue(req, res) {
      answerWaiting(this, settings, req as IncomingMessage, res as ServerResponse);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function fetchTo(all: Settings, request: Request, server: unknown): Promise<Response> {
  const ownsChunks = isFromBunServer(request, server);
  const settings = ownsChunks ? { ...all, save: { ...all.save, ownsChunks } } : all;
  const { method, url: target } = request;
  const incoming: UploadRequest = { method, target, mount: "", source: request, bytes: 0 };
  return await lingeringResponse((await handleUpload(settings, incoming))!, request);
}
