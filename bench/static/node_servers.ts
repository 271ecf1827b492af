import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { NOT_MODIFIED } from "./not_modified.ts";
import { type ReadyAnswer, readyAnswers } from "./ready_answers.ts";
import type { Servers } from "./server.ts";
import { vinextModule } from "./vinext.ts";

const SEND: string = "send"; // it has no types
type Send = (req: IncomingMessage, path: string, options: { root: string }) => { pipe(res: ServerResponse): unknown };

/** The servers on Node. Each resolves to the port it listens on. */
export const nodeServers: Servers = {
  async bare(folder): Promise<number> {
    const answers = answersWithFields(folder);
    return await listen((req, res) => {
      const { bytes, fields } = answers.get(req.url!)!;
      res.writeHead(200, fields);
      res.end(bytes);
    });
  },
  async "bare, negotiating"(folder): Promise<number> {
    const answers = answersWithFields(folder);
    return await listen((req, res) => {
      const { bytes, fields, coding } = answers.get(req.url!)!;
      if (String(req.headers["accept-encoding"]).includes(coding)) res.writeHead(200, fields).end(bytes);
      else res.writeHead(406).end();
    });
  },
  "bare 304, no fields": async () =>
    await listen((req, res) => {
      res.writeHead(statusFor(req));
      res.end();
    }),
  "bare 304": async () =>
    await listen((req, res) => {
      res.writeHead(statusFor(req), NOT_MODIFIED);
      res.end();
    }),
  ours: async (folder) => await listen((await createStaticHandler(folder)).node),
  async "ours, fetch, srvx"(folder): Promise<number> {
    const { FastResponse, serve } = await import("srvx/node");
    globalThis.Response = FastResponse as unknown as typeof Response; // its documentation recommends this for speed
    const { fetch } = await createStaticHandler(folder);
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1", silent: true });
    await server.ready();
    return Number(new URL(server.url!).port);
  },
  async "ours, fetch, hono"(folder): Promise<number> {
    const { getRequestListener } = await import("@hono/node-server");
    return await listen(getRequestListener((await createStaticHandler(folder)).fetch));
  },
  async "vinext 1.4.0"(folder): Promise<number> {
    const { StaticFileCache } = await import(pathToFileURL(vinextModule("static-file-cache.js")).href);
    const { tryServeStatic } = await import(pathToFileURL(vinextModule("prod-server.js")).href);
    const cache = await StaticFileCache.create(folder);
    // The code of vinext's server, without its checks of the path.
    return await listen((req, res) => void tryServeStatic(req, res, folder, req.url!.split("?")[0], true, cache));
  },
  async sirv(folder): Promise<number> {
    const { default: sirv } = await import("sirv");
    return await listen(sirv(folder, { brotli: true, gzip: true, etag: true }));
  },
  async send(folder): Promise<number> {
    const { default: send } = await import(SEND) as { readonly default: Send };
    return await listen((req, res) => void send(req, req.url!, { root: folder }).pipe(res));
  },
  async "hono serveStatic"(folder): Promise<number> {
    const [{ getRequestListener }, { serveStatic }, { Hono }] = await Promise.all([
      import("@hono/node-server"),
      import("@hono/node-server/serve-static"),
      import("hono"),
    ]);
    const app = new Hono().use(serveStatic({ root: folder, precompressed: true }));
    return await listen(getRequestListener(app.fetch));
  },
};

interface AnswerWithFields extends ReadyAnswer {
  readonly fields: Readonly<Record<string, string>>;
}

function answersWithFields(folder: string): Map<string, AnswerWithFields> {
  return new Map([...readyAnswers(folder)].map(([path, answer]) => {
    const { bytes, type, coding } = answer;
    const fields = { "Content-Type": type, "Content-Length": String(bytes.length), "Content-Encoding": coding };
    return [path, { ...answer, fields }];
  }));
}

/** Returns the status of an answer that depends on the request's conditions. */
function statusFor({ headers }: IncomingMessage): number {
  return headers["if-none-match"] === undefined ? 200 : 304;
}

type Listener = RequestListener<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>>;

function listen(listener: Listener): Promise<number> {
  const server: Server = createServer(listener);
  return new Promise((listening) => {
    server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port));
  });
}
