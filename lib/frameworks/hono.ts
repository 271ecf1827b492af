/**
 * Middleware for Hono: files of a folder, and compression of responses.
 *
 * @example An API and the files of an application
 * ```ts
 * import { createCompression } from "@millrace/streams/compression";
 * import { compress, serveStatic } from "@millrace/streams/hono";
 * import { createStaticHandler } from "@millrace/streams/static";
 * import { Hono } from "hono";
 *
 * const site = await createStaticHandler("dist");
 * const app = new Hono();
 * app.use(compress(createCompression()));
 * app.get("/api/mills", (c) => c.json(["wind", "water"]));
 * app.use(serveStatic(site));
 * console.log((await app.request("/")).headers.get("content-type")); // text/html; charset=utf-8
 * ```
 *
 * @module
 */
import type { Compression } from "../compression/mod.ts";
import type { StaticHandler } from "../static/mod.ts";
import { COMPRESSION, faultOf, STATIC_HANDLER } from "./made_by.ts";

/** The key by which compression finds the response that is sent. */
const SENT = Symbol.for("@millrace/streams sent");

/**
 * Middleware for any application of Hono.
 *
 * @example Only in production
 * ```ts
 * import { type HonoMiddleware, serveStatic } from "@millrace/streams/hono";
 * import { createStaticHandler } from "@millrace/streams/static";
 * import process from "node:process";
 *
 * const isDevelopment = process.env.NODE_ENV === "development";
 * const files: HonoMiddleware[] = isDevelopment ? [] : [serveStatic(await createStaticHandler("dist"))];
 * console.log(files.length); // 1
 * ```
 */
export type HonoMiddleware = (
  context: { readonly req: { readonly raw: Request }; res: Response | undefined; header?(name: string): void },
  next: () => Promise<void>,
) => Promise<Response | void>;

/**
 * Returns middleware that answers with the files of a static handler. Requests without a file are passed on to the next
 * handler: add it before your routes, or after them if the handler has a `fallback`.
 *
 * @param site The handler. Below a path, such as in `app.use("/docs/*", …)`, it needs that path as its `basePath`.
 * @throws {TypeError} if `site` is not a static handler, such as a promise of one.
 * @example Serve a folder
 * ```ts
 * import { serveStatic } from "@millrace/streams/hono";
 * import { createStaticHandler } from "@millrace/streams/static";
 * import { Hono } from "hono";
 *
 * const app = new Hono().use(serveStatic(await createStaticHandler("dist")));
 * console.log((await app.request("/index.html")).status, (await app.request("/missing")).status); // 200 404
 * ```
 */
export function serveStatic(site: Pick<StaticHandler, "match">): HonoMiddleware {
  const fault = faultOf(site, "match", { name: "serveStatic()", how: STATIC_HANDLER }, arguments[1]);
  if (fault !== undefined) throw fault;
  return async ({ req }, next) => await site.match(req.raw) ?? await next();
}

/**
 * Returns middleware that compresses responses. Text and JSON are compressed in one call and have a `Content-Length`.
 *
 * @param compression The result of `createCompression()`.
 * @throws {TypeError} if `compression` is of another type.
 * @example Compress the responses of an API
 * ```ts
 * import { createCompression } from "@millrace/streams/compression";
 * import { compress } from "@millrace/streams/hono";
 * import { Hono } from "hono";
 *
 * const compression = createCompression();
 * await compression.ready();
 * const app = new Hono().use(compress(compression)).get("/", (c) => c.json(Array(500).fill("mill")));
 * const response = await app.request("/", { headers: { "accept-encoding": "zstd" } });
 * console.log(response.headers.get("content-encoding")); // zstd
 * ```
 */
export function compress(compression: Pick<Compression, "fetch">): HonoMiddleware {
  const fault = faultOf(compression, "fetch", { name: "compress()", how: COMPRESSION }, arguments[1]);
  if (fault !== undefined) throw fault;
  let isTyped: boolean | undefined;
  return async (context, next) => {
    // Bun adds the type of a text only when it is sent, but Hono adds one if the response has its own fields.
    isTyped ??= new Response("text").headers.has("content-type");
    if (!isTyped) context.header?.("accept-encoding");
    // Middleware outside of this one may still replace the response, such as by one with a cookie.
    const sender = { [SENT]: () => context.res! };
    const respond = async (_: Request, _sender: object) => {
      await next();
      return context.res!;
    };
    const compressed = await compression.fetch(respond)(context.req.raw, sender);
    if (compressed === context.res) return;
    context.res = undefined; // otherwise Hono would add the former response's fields
    context.res = compressed;
  };
}
