import { S3Bucket } from "@millrace/streams/s3";
import { createUploadHandler } from "@millrace/streams/upload";
import express from "express";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

const { env } = process;
const bucket = new S3Bucket({
  endpoint: env.S3_ENDPOINT!,
  region: env.S3_REGION ?? "us-east-1",
  bucket: env.S3_BUCKET!,
  credentials: { accessKeyId: env.S3_ACCESS_KEY_ID!, secretAccessKey: env.S3_SECRET_ACCESS_KEY! },
});
const uploads = createUploadHandler({ storage: bucket, maxBytes: 5e9 });

const app = express();
app.use((request, response, next) => {
  // Your own authorisation stands here: whatever gets past it can store files.
  if (request.headers.authorization === `Bearer ${env.TOKEN}`) next();
  else response.status(401).json({ title: "no token" });
});
app.get("/films/:name", async (request, response) => {
  const { name } = request.params;
  const found = await bucket.head(name);
  if (found === undefined) return void response.status(404).json({ title: "no such film" });
  response.writeHead(200, { "content-length": found.size, "content-type": "application/octet-stream" });
  Readable.fromWeb(bucket.readable(name)).pipe(response);
});
app.use("/films", uploads.node);

const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 }, app);
server.listen(Number(env.PORT ?? 8000), "127.0.0.1", () => {
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, async () => {
    server.close();
    await uploads.close(); // pending uploads are stored, or their senders get an error
    await bucket.close();
  });
}
