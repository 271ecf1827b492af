/**
 * Plugins for Fastify: files of a folder, and compression of responses.
 *
 * @example An API and the files of an application
 * ```ts
 * import { createCompression } from "@millrace/streams/compression";
 * import { compress, serveStatic } from "@millrace/streams/fastify";
 * import { createStaticHandler } from "@millrace/streams/static";
 * import { fastify } from "fastify";
 *
 * const site = await createStaticHandler("dist", { fallback: "index.html" });
 * const app = fastify();
 * app.register(compress, { compression: createCompression() });
 * app.register(serveStatic, { site });
 * app.get("/api/mills", () => ["wind", "water"]);
 * app.addHook("onClose", () => site.close());
 * await app.listen({ port: 8000 });
 * console.log((await fetch("http://localhost:8000/users/7")).headers.get("content-type")); // text/html; charset=utf-8
 * await app.close();
 * ```
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Compression } from "../compression/mod.ts";
import type { StaticHandler } from "../static/mod.ts";
import { COMPRESSION, faultOf, STATIC_HANDLER } from "./made_by.ts";

/**
 * The part of a Fastify application that the plugins use.
 *
 * @example Each hook that a plugin adds
 * ```ts
 * import { createCompression } from "@millrace/streams/compression";
 * import { compress, type FastifyHooks } from "@millrace/streams/fastify";
 *
 * const app: FastifyHooks = { addHook: (name) => console.log(name) };
 * compress(app, { compression: createCompression() }, () => {}); // onRequest
 * ```
 */
export interface FastifyHooks {
  /** Adds a hook that is called first for each request. */
  addHook(
    name: "onRequest",
    hook: (
      request: { readonly raw: IncomingMessage; readonly is404: boolean },
      reply: { readonly raw: ServerResponse },
      done: () => void,
    ) => void,
  ): unknown;
}

/**
 * A plugin of Fastify, whose hooks apply to the whole application in which it is registered.
 *
 * @example Only in production
 * ```ts
 * import { compress, type FastifyPlugin } from "@millrace/streams/fastify";
 * import type { Compression } from "@millrace/streams/compression";
 * import process from "node:process";
 *
 * const isDevelopment = process.env.NODE_ENV === "development";
 * const plugins: FastifyPlugin<{ compression: Compression }>[] = isDevelopment ? [] : [compress];
 * console.log(plugins.length); // 1
 * ```
 */
export type FastifyPlugin<Options> = (app: FastifyHooks, options: Options, done: (error?: Error) => void) => void;

/**
 * Answers requests without a route with the files of a static handler, `site`, which the caller must close. Requests
 * without a file get the application's own 404. `onSend` hooks and `reply.header()` do not apply to these responses:
 * use the handler's `headers`.
 *
 * @example Serve a folder
 * ```ts
 * import { serveStatic } from "@millrace/streams/fastify";
 * import { createStaticHandler } from "@millrace/streams/static";
 * import { fastify } from "fastify";
 *
 * const app = fastify();
 * await app.register(serveStatic, { site: await createStaticHandler("dist") });
 * console.log((await app.inject("/")).statusCode, (await app.inject("/missing")).statusCode); // 200 404
 * ```
 */
export const serveStatic: FastifyPlugin<{ readonly site: Pick<StaticHandler, "node"> }> = /* @__PURE__ */ shared(
  (app, { site }, done) => {
    const fault = faultOf(site, "node", { name: "the option site of serveStatic", how: STATIC_HANDLER });
    if (fault !== undefined) return done(fault);
    app.addHook("onRequest", (request, reply, next) => {
      if (request.is404) site.node(request.raw, reply.raw, next);
      else next();
    });
    done();
  },
);

/**
 * Compresses the responses of an application by `compression`, the result of `createCompression()`.
 *
 * @example Compress the responses of an API
 * ```ts
 * import { createCompression } from "@millrace/streams/compression";
 * import { compress } from "@millrace/streams/fastify";
 * import { fastify } from "fastify";
 *
 * const compression = createCompression();
 * await compression.ready();
 * const app = fastify();
 * await app.register(compress, { compression });
 * app.get("/", () => Array(500).fill("mill"));
 * const { headers } = await app.inject({ url: "/", headers: { "accept-encoding": "zstd" } });
 * console.log(headers["content-encoding"]); // zstd
 * ```
 */
export const compress: FastifyPlugin<{ readonly compression: Pick<Compression, "node"> }> = /* @__PURE__ */ shared(
  (app, { compression }, done) => {
    const fault = faultOf(compression, "node", { name: "the option compression of compress", how: COMPRESSION });
    if (fault !== undefined) return done(fault);
    app.addHook("onRequest", (request, reply, next) => compression.node(request.raw, reply.raw, next));
    done();
  },
);

/** Marks a plugin as one without its own Fastify scope. */
function shared<Options>(plugin: FastifyPlugin<Options>): FastifyPlugin<Options> {
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true });
}
