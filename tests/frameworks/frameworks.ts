import { Elysia } from "elysia";
import express from "express";
import { fastify } from "fastify";
import { H3 } from "h3";
import { Hono } from "hono";
import Koa from "koa";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Compression } from "../../lib/compression/mod.ts";
import * as forFastify from "../../lib/frameworks/fastify.ts";
import * as forHono from "../../lib/frameworks/hono.ts";
import type { StaticHandler } from "../../lib/static/mod.ts";

/** The parts that an application is made of. */
export interface Parts {
  readonly site: StaticHandler;
  readonly compression: Compression;
}

/** An application with the files of a site, and routes of its own. */
export interface Application {
  request(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** A long response of the routes `/api/mills` and `POST /app.js`. */
export const mills: string[] = Array.from({ length: 500 }, (_, i) => `mill ${i}`);

/** Applications in each framework, as the pages say that they are made. */
export const frameworks: Readonly<Record<string, (parts: Parts) => Promise<Application>>> = {
  Hono({ site, compression }) {
    const app = new Hono();
    app.use(forHono.compress(compression));
    app.get("/api/mills", (c) => c.json(mills));
    app.post("/app.js", (c) => c.json(mills));
    app.use(forHono.serveStatic(site));
    return inProcess((request) => app.fetch(request));
  },

  Elysia({ site, compression }) {
    const app = new Elysia()
      .onRequest(({ request }) => site.match(request))
      .get("/api/mills", () => mills)
      .post("/app.js", () => mills);
    return inProcess(compression.fetch((request) => app.fetch(request)));
  },

  h3({ site, compression }) {
    const app = new H3()
      .use((event, next) => site.match(event.req) ?? next())
      .get("/api/mills", () => mills)
      .post("/app.js", () => mills);
    return inProcess(compression.fetch((request) => app.fetch(request)));
  },

  Express({ site, compression }) {
    const app = express();
    app.use(compression.node);
    app.get("/api/mills", (_: unknown, res: { json(body: unknown): void }) => res.json(mills));
    app.post("/app.js", (_: unknown, res: { json(body: unknown): void }) => res.json(mills));
    app.use(site.node);
    return onNode(app);
  },

  Koa({ site, compression }) {
    const app = new Koa();
    app.use(async (ctx, next) => {
      compression.node(ctx.req, ctx.res);
      let isMissing = false;
      site.node(ctx.req, ctx.res, () => isMissing = true);
      if (isMissing) await next();
      else ctx.respond = false;
    });
    app.use((ctx) => {
      if (ctx.path === "/api/mills" || ctx.method === "POST") ctx.body = mills;
    });
    return onNode(app.callback());
  },

  async Fastify({ site, compression }) {
    const app = fastify();
    app.register(forFastify.compress, { compression });
    app.register(forFastify.serveStatic, { site });
    app.get("/api/mills", () => mills);
    app.post("/app.js", () => mills);
    await app.ready();
    return await onNode(app.routing);
  },
};

function inProcess(fetch: (request: Request) => Response | Promise<Response>): Promise<Application> {
  return Promise.resolve({
    request: async (path, init) => await fetch(new Request(`http://127.0.0.1${path}`, init)),
    close: () => Promise.resolve(),
  });
}

async function onNode(listener: RequestListener): Promise<Application> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    request: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
