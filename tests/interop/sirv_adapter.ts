/**
 * sirv's function over `createStaticHandler()`, for sirv's own tests. Where the two mean to differ, it translates:
 *
 * - sirv is ready at once; ours scans first: requests wait for that. A folder that is not there is an error at once.
 * - `/about` gives `about.html`, `about.htm`, `about/index.html` or `about/index.htm` itself: ours redirects to the folder
 *   (relative links in its page would lead astray) and knows one extension. So each is requested in turn; `single` and
 *   `ignores` are the last of these.
 * - `dev` looks at the folder for each request: `reload()` scans it again.
 * - `maxAge`, `immutable` and `dev` make up `Cache-Control` for all files, and without them there is none: ours
 * distinguishes files with a hash in their name from files to revalidate.
 * - `Content-Type` is mrmime's, with a charset only for HTML, and empty if it knows no type: ours says UTF-8 for all
 * text, and sends no empty field.
 * - `setHeaders` is called for each response: ours takes fields by file.
 * - A range may lack its dash: ours ignores what is none by RFC 9110, section 14.1.1.
 * - `Accept-Ranges` goes with ranges only: ours announces them beforehand, as section 14.3 has it.
 */
import { statSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, resolve } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { lookup } from "mrmime";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";

/** The options of sirv that its tests use; `etag` only chooses the `Cache-Control` of `dev`. */
export interface SirvOptions {
  readonly dev?: boolean;
  readonly etag?: boolean;
  readonly maxAge?: number | null;
  readonly immutable?: boolean;
  readonly single?: string | boolean;
  readonly ignores?: false | string | RegExp | readonly (string | RegExp)[];
  readonly extensions?: readonly string[];
  readonly dotfiles?: boolean;
  readonly brotli?: boolean;
  readonly gzip?: boolean;
  readonly onNoMatch?: (req: IncomingMessage, res: ServerResponse) => void;
  readonly setHeaders?: (res: Pick<ServerResponse, "setHeader">, path: string, stats: { size: number }) => void;
}

type Middleware = (req: IncomingMessage, res: ServerResponse, next?: () => void) => void;
type Ask = (handler: StaticHandler, req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** Makes sirv's function. The environment's `SIRV_ENTRY` names the entry point: `node` or `fetch`. */
export function sirv(directory = ".", options: SirvOptions = {}): Middleware {
  const folder = resolve(directory);
  statSync(folder);
  const scanned = createStaticHandler(folder, mapped(folder, options));
  scanned.catch(() => {}); // each request reports the error
  const ask = process.env.SIRV_ENTRY === "fetch" ? askFetch : askNode;
  return (req, res, next) => {
    const fail = (error: unknown): void => void res.writeHead(500).end(String(error));
    answer(scanned, ask, req, res, options, next).catch(fail);
  };
}

function mapped(folder: string, options: SirvOptions): StaticHandlerOptions {
  return {
    index: false,
    immutable: false,
    dotfiles: options.dotfiles,
    precompressed: [...options.brotli ? ["br" as const] : [], ...options.gzip ? ["gzip" as const] : []],
    cacheControl: cacheControlOf(options),
    headers: (path) => {
      const type = lookup(path) ?? "";
      const fields: Record<string, string> = { "content-type": type === "text/html" ? `${type};charset=utf-8` : type };
      const setHeader = (name: string, value: unknown): unknown => fields[name.toLowerCase()] = String(value);
      const res = { setHeader } as unknown as ServerResponse;
      options.setHeaders?.(res, `/${path}`, statSync(join(folder, path)));
      return fields;
    },
    onWarning: () => {},
  };
}

function cacheControlOf({ dev, etag, maxAge, immutable }: SirvOptions): string {
  if (dev) return etag ? "no-cache" : "no-store";
  if (maxAge === undefined || maxAge === null) return "";
  return `public,max-age=${maxAge}${immutable ? ",immutable" : maxAge === 0 ? ",must-revalidate" : ""}`;
}

async function answer(
  scanned: Promise<StaticHandler>,
  ask: Ask,
  req: IncomingMessage,
  res: ServerResponse,
  options: SirvOptions,
  next: (() => void) | undefined,
): Promise<void> {
  const handler = await scanned;
  if (options.dev) await handler.reload();
  const { range } = req.headers;
  if (range && /^bytes=\d+$/.test(range)) req.headers.range = `${range}-`;
  sendFieldsAsSirv(res);
  const candidates = candidatesFor(req.url!.replace(/[?#].*/, ""), options);
  const tryNext = (): void => {
    const candidate = candidates.shift();
    if (candidate === undefined) return noMatch(req, res, options, next);
    req.url = candidate;
    ask(handler, req, res, tryNext);
  };
  tryNext();
}

function noMatch(req: IncomingMessage, res: ServerResponse, { onNoMatch }: SirvOptions, next?: () => void): void {
  if (next) return next();
  if (onNoMatch) return onNoMatch(req, res);
  res.statusCode = 404;
  res.end();
}

/** Returns the paths of a request's candidates, in sirv's order. */
function candidatesFor(path: string, options: SirvOptions): string[] {
  const bare = path.replace(/\/$/, "");
  const extensions = ["", ...(options.extensions ?? ["html", "htm"]).map((extension) => `.${extension}`)];
  const candidates = extensions.flatMap((
    extension,
  ) => [...bare ? [bare + extension] : [], `${bare}/index${extension}`]);
  if (!options.single || ignoredBy(options).some((pattern) => pattern.test(path))) return candidates;
  return [...candidates, options.single === true ? "/index.html" : `/${options.single}`];
}

/** Returns the paths that `single` leaves alone: by default those with an extension. */
function ignoredBy({ ignores, dotfiles }: SirvOptions): RegExp[] {
  if (ignores === false) return [];
  const own = [ignores ?? []].flat() as (string | RegExp)[];
  return [/[^/.][^/]*\.\w+$/, dotfiles ? /\/\.\w/ : /\/\.well-known/, ...own.map((each) => new RegExp(each, "i"))];
}

/** Removes a field that sirv does not send, and adds one that this package leaves out. */
function sendFieldsAsSirv(res: ServerResponse): void {
  const writeHead = res.writeHead.bind(res) as (status: number, fields: string[]) => ServerResponse;
  res.writeHead = (status: number, fields: unknown): ServerResponse => {
    if (!Array.isArray(fields) || status !== 200) return writeHead(status, fields as string[]);
    const names = fields.map((_, i) => (fields[i - i % 2] as string).toLowerCase());
    const sent = fields.filter((_, i) => names[i] !== "accept-ranges");
    return writeHead(status, names.includes("content-type") ? sent : [...sent, "content-type", ""]);
  };
}

const askNode: Ask = (handler, req, res, next) => handler.node(req, res, next);

const askFetch: Ask = (handler, { method, url, headers }, res, next) => {
  const request = new Request(new URL(url!, "http://site.example"), { method, headers: headers as HeadersInit });
  const send = async ({ status, headers, body }: Response): Promise<void> => {
    if (status === 404) return next();
    res.writeHead(status, [...headers].flat());
    if (body === null) res.end();
    else await pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), res);
  };
  Promise.resolve(handler.fetch(request)).then(send).catch((error) => res.destroy(error));
};
