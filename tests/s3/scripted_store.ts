import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { S3Bucket, type S3BucketOptions } from "../../lib/s3/mod.ts";
import { until, within } from "../support/waits.ts";

/** A store that answers what a test says, whatever S3 says. */
export interface ScriptedStore {
  readonly endpoint: string;
  /** The method and path of each request, with its query. */
  readonly asked: string[];
  /** Returns a client of the store. Default: without retries. */
  bucket(options?: Partial<S3BucketOptions>): S3Bucket;
  /** Returns the number of requests that wait for the end of their answers. */
  open(): number;
}

/** Runs against a store whose answers a function writes; bodies of requests have been read then. */
export async function withAnswers(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
  act: (store: ScriptedStore) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const open = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  const buckets: S3Bucket[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    open.add(res);
    res.on("close", () => open.delete(res));
    req.resume().on("end", () => answer(req, res));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bucket = (options: Partial<S3BucketOptions> = {}): S3Bucket => {
    const credentials = { accessKeyId: "id", secretAccessKey: "s3cr3t", sessionToken: "t0ken" };
    const made = new S3Bucket({ endpoint, bucket: "films", credentials, retries: 0, ...options });
    buckets.push(made);
    return made;
  };
  try {
    await within(act({ endpoint, asked, bucket, open: () => open.size }), "the scene");
    await until(() => open.size === 0, "the end of all requests");
  } finally {
    for (const each of buckets) await each.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Returns a document of the store. */
export function document(name: string, content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><${name}>${content}</${name}>`;
}
