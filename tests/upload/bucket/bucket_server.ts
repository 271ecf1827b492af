/** A process that serves uploads into the bucket that its argument describes, and prints its port. */
import { createServer } from "node:http";
import process from "node:process";
import type * as S3 from "../../../lib/s3/mod.ts";
import type * as Upload from "../../../lib/upload/mod.ts";
import { faceOf } from "../../support/built_faces.ts";

const { S3Bucket }: typeof S3 = await import(faceOf("s3"));
const { createUploadHandler }: typeof Upload = await import(faceOf("upload"));
const storage = new S3Bucket(JSON.parse(process.argv[2]) as S3.S3BucketOptions);
const handler = createUploadHandler({ storage, resumable: true, overwrite: true, maxBytes: 2 ** 40, dotfiles: false });
const server = createServer(handler.node);
server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
// The process ends with its parent, which closes the input.
process.stdin.resume().on("end", () => process.exit());
