/** A process that serves uploads into the bucket that its argument describes, and prints its port. */
import { createServer } from "node:http";
import process from "node:process";
import { S3Bucket, type S3BucketOptions } from "../../../lib/s3/mod.ts";
import { createUploadHandler } from "../../../lib/upload/mod.ts";

const storage = new S3Bucket(JSON.parse(process.argv[2]) as S3BucketOptions);
const handler = createUploadHandler({ storage, resumable: true, overwrite: true, maxBytes: 2 ** 40, dotfiles: false });
const server = createServer(handler.node);
server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
// The process ends with its parent, which closes the input.
process.stdin.resume().on("end", () => process.exit());
