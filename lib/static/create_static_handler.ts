import type { IncomingMessage, ServerResponse } from "node:http";
import { fetchFrom } from "./fetch_handler.ts";
import { answerNode } from "./node_handler.ts";
import { settingsOf, type StaticHandlerOptions } from "./options.ts";
import { Site, type StaticStats } from "./site.ts";

/** Answers requests for the files of a folder. */
export interface StaticHandler extends AsyncDisposable {
  /**
   * Answers a `Request`: for `Deno.serve()`, `Bun.serve()`, srvx, Hono. Bound, so that it can be passed on alone.
   *
   * @returns The response; a promise of it if it is streamed from a file.
   */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /**
   * Answers a request to `node:http`, or `node:http2`, with no `Request` in between; also in a chain of Connect or
   * Express, where what it has no file for, and methods other than GET and HEAD, go on to `next()`. Bound.
   */
  readonly node: (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void;
  /**
   * Scans the folder again, and answers from what it finds as soon as that is all ready. Requests under way get what
   * they began with. If it rejects, all stays as it was.
   */
  readonly reload: () => Promise<void>;
  /** How many files there are, and how much of them is in memory. */
  readonly stats: () => StaticStats;
  /** Answers nothing any more, waits for what is being sent, and lets go of the memory. */
  readonly close: () => Promise<void>;
}

/**
 * Serves a folder from a table of ready answers: no file is looked at while answering, but those too large to be kept
 * in memory are read.
 */
export async function createStaticHandler(
  directory: string,
  options: StaticHandlerOptions = {},
): Promise<StaticHandler> {
  const site = await Site.open(directory, await settingsOf(options));
  if (options.watch) site.watch();
  return {
    fetch: (request) => fetchFrom(site, request),
    node: (req, res, next) => answerNode(site, req, res, next),
    reload: () => site.reload(),
    stats: () => site.stats(),
    close: () => site.close(),
    [Symbol.asyncDispose]: () => site.close(),
  };
}
