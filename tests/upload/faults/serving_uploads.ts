/**
 * A server for uploads in a process of its own: `serving_uploads.ts FOLDER|BUCKET node|fetch|http2 OPTIONS`, the options
 * and those of a bucket as JSON. Prints its port. Told `log` on standard input, it prints what the handler logged since the last time, as JSON;
 * told `collect`, it collects garbage; told `begun ID`, it prints whether the handler has the request with that `X-Request`.
 * It ends with its standard input.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { serve } from "../../../lib/runtime/mod.ts";
import type * as S3 from "../../../lib/s3/mod.ts";
import type * as Upload from "../../../lib/upload/mod.ts";
import { faceOf } from "../../support/built_faces.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { runtime } from "../../support/runtime.ts";
import type { Logged, UploadEntry } from "./upload_process.ts";

const { createUploadHandler }: typeof Upload = await import(faceOf("upload"));
const [place, entry, options] = process.argv.slice(2);
const storage = place.startsWith("{")
  ? { storage: new ((await import(faceOf("s3"))) as typeof S3).S3Bucket(JSON.parse(place)) }
  : { directory: place };
let logged: Logged[] = [];
const handler = createUploadHandler({
  ...JSON.parse(options),
  ...storage,
  log: ({ method, path, status, bytes, error }) => {
    const { code } = (error ?? {}) as { code?: string };
    logged.push({ method, path, status, bytes, code, error: error === undefined ? undefined : String(error) });
  },
});
/** The `X-Request` of requests that have reached the handler. */
const begun = new Set<string | null | undefined>();
const observed: Upload.UploadHandler = {
  ...handler,
  node(request, ...rest) {
    begun.add(request.headers["x-request"]?.toString());
    return handler.node(request, ...rest);
  },
  fetch(request, ...rest) {
    begun.add(request.headers.get("x-request"));
    return handler.fetch(request, ...rest);
  },
};
console.log(`port ${await listen(observed, entry as UploadEntry)}`);

const commands = createInterface({ input: process.stdin });
commands.on("line", (line) => {
  if (line === "collect") {
    collectGarbage!();
    return console.log("collected");
  }
  if (line.startsWith("begun ")) return console.log(begun.has(line.slice("begun ".length)));
  console.log(JSON.stringify(logged));
  logged = [];
});
commands.on("close", () => process.exit(0));

function listen(handler: Upload.UploadHandler, entry: UploadEntry): Promise<number> {
  if (entry === "node") {
    return listenOn(createServer(handler.node).on("checkContinue", handler.checkContinue));
  }
  if (entry === "http2") {
    // The compatible side of http2 has requests and responses like those of http; the types do not know that.
    return listenOn(createHttp2Server(handler.node as unknown as Parameters<typeof createHttp2Server>[1]));
  }
  return runtime === "node" ? listenOnSrvx(handler) : listenNatively(handler);
}

async function listenOn(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function listenOnSrvx({ fetch }: Upload.UploadHandler): Promise<number> {
  const { serve } = await import("srvx/node");
  const server = serve({ fetch, port: 0, hostname: "127.0.0.1", silent: true, gracefulShutdown: false });
  await server.ready();
  return Number(new URL(server.url!).port);
}

async function listenNatively({ fetch, node }: Upload.UploadHandler): Promise<number> {
  return (await serve({ fetch, node, hostname: "127.0.0.1", port: 0 })).port;
}
