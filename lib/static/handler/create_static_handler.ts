import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { lastingPath } from "../../files/internal.ts";
import { fetchFrom, matchFrom } from "./fetch_handler.ts";
import { answerNode } from "./node_handler.ts";
import type { StaticHandlerOptions } from "../answer/options.ts";
import { settingsOf } from "../answer/settings.ts";
import { Site, type StaticStats } from "./site.ts";

/**
 * A handler of requests for the files of a folder.
 *
 * @example Ask it without a server
 * ```ts
 * import { createStaticHandler, type StaticHandler } from "@millrace/streams/static";
 *
 * const site: StaticHandler = await createStaticHandler("dist");
 * const response = await site.fetch(new Request("http://localhost/missing.js"));
 * console.log(response.status); // 404
 * await site.close();
 * ```
 */
export interface StaticHandler extends AsyncDisposable {
  /**
   * Answers a `Request`: for `Deno.serve()`, `Bun.serve()`, srvx, Hono. Bound, so it can be passed as a callback.
   *
   * On Bun, the server itself sends a single range of a file over 256 KiB, which it opens when it gets the Response. If
   * the file is replaced in the microseconds before, or overwritten before its last byte is sent, the new bytes are
   * sent with the old entity tag. {@linkcode StaticHandler.node} closes the connection instead.
   *
   * @returns The response, or a promise of it if it is streamed from a file.
   */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /**
   * Answers a `Request` like {@linkcode StaticHandler.fetch}, for middleware: returns undefined if there is no file at
   * the path, or the method is not GET or HEAD. Bound.
   */
  readonly match: (request: Request) => Response | Promise<Response> | undefined;
  /**
   * Answers a request to `node:http` or `node:http2`, without a `Request`. It also works in Connect or Express:
   * requests without a file, and methods other than GET and HEAD, are passed on to `next()`; with `cors`, preflights
   * for the handler's files are answered. Bound.
   */
  readonly node: (
    req: IncomingMessage | Http2ServerRequest,
    res: ServerResponse | Http2ServerResponse,
    next?: (error?: unknown) => void,
  ) => void;
  /**
   * Scans the folder again, and serves the result once it is complete. Open requests finish with the former files. If
   * it rejects, the former files stay.
   */
  readonly reload: () => Promise<void>;
  /** Returns the number of files, and the number of their bytes in memory. */
  readonly stats: () => StaticStats;
  /** Stops responding, waits for open responses, and releases the memory. */
  readonly close: () => Promise<void>;
}

/**
 * Creates a handler that serves the files of a folder from a table of ready responses, built once. A request reads from
 * the file system only if its file is too large for the memory.
 *
 * The variants that `precompress` made (or any other tool: `app.js.br`, `.zst`, `.gz` beside `app.js`) are sent to
 * clients that accept them, by the weights of `Accept-Encoding`; `.dcb` and `.dcz` deltas to browsers that have the
 * previous version (RFC 9842). Every variant has a strong `ETag` of its own bytes. Conditional requests and ranges
 * follow RFC 9110, for variants, too.
 *
 * A request for a file that has changed since the scan gets 503 and `Retry-After`, and starts a new scan: no response
 * mixes two versions. Replace whole folders by switching a symbolic link, or files by renaming, then `reload()`.
 *
 * @param directory The folder. Files outside it are never served, not even through a symbolic link.
 * @param options The options for index and error pages, caching and memory: see {@linkcode StaticHandlerOptions}.
 * @throws {TypeError} if the folder does not exist, or an option is unknown or invalid.
 * @throws {RangeError} if `memoryLimit` is negative.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110} for HTTP
 * @see {@link https://www.rfc-editor.org/rfc/rfc9842} for the deltas
 * @example Serve a folder
 * ```ts
 * import { createStaticHandler } from "@millrace/streams/static";
 * import { createServer } from "node:http";
 *
 * const site = await createStaticHandler("dist", { fallback: "index.html" });
 * const server = createServer(site.node).listen(8000);
 * await new Promise((resolve) => server.once("listening", resolve));
 *
 * const response = await fetch("http://localhost:8000/");
 * console.log(response.status, response.headers.get("content-type")); // 200 text/html; charset=utf-8
 * ```
 */
export async function createStaticHandler(
  directory: string,
  options: StaticHandlerOptions = {},
): Promise<StaticHandler> {
  return handlerOf(await opened(directory, options));
}

/** Opens a handler like {@linkcode createStaticHandler}, but reads slow files afterwards, while requests for them wait. */
export async function openStaticHandler(
  directory: string,
  options: StaticHandlerOptions,
): Promise<{ readonly handler: StaticHandler; readonly whole: Promise<void> }> {
  const site = await opened(directory, options, true);
  return { handler: handlerOf(site), whole: site.whole };
}

async function opened(directory: string, options: StaticHandlerOptions, isHasty = false): Promise<Site> {
  const root = lastingPath(directory);
  const settings = await settingsOf(options);
  const site = await Site.open(root, settings, isHasty);
  if (settings.watch) site.watch();
  return site;
}

function handlerOf(site: Site): StaticHandler {
  return {
    fetch: (request) => fetchFrom(site, request),
    match: (request) => matchFrom(site, request),
    node: (req, res, next) => answerNode(site, req as IncomingMessage, res as ServerResponse, next),
    reload: () => site.reload(),
    stats: () => site.stats(),
    close: () => site.close(),
    [Symbol.asyncDispose]: () => site.close(),
  };
}
