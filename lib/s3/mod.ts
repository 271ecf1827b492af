/**
 * Object storage by the S3 protocol: uploads of unknown length in constant memory, downloads that outlive connections.
 *
 * @example Copy a response into a bucket
 * ```ts
 * import { S3Bucket } from "@millrace/streams/s3";
 *
 * const bucket = new S3Bucket({
 *   endpoint: "https://s3.example.com",
 *   bucket: "films",
 *   credentials: { accessKeyId: "id", secretAccessKey: "secret" },
 * });
 * const response = new Response("as long as it is");
 * await response.body!.pipeTo(bucket.writable("a.mp4", { contentType: "video/mp4" }));
 * console.log((await bucket.head("a.mp4"))?.size); // 16
 * await bucket.close();
 * ```
 *
 * @module
 */
export { S3Bucket } from "./s3_bucket.ts";
export type { S3BucketOptions, S3Credentials } from "./s3_bucket_options.ts";
export { S3Error, type S3ErrorCode } from "./s3_error.ts";
export type { S3Object, S3PutOptions, S3Stored, S3WritableOptions } from "./s3_object.ts";
export type { S3ReadOptions } from "./object_readable.ts";
export type { S3Writable } from "./s3_writable.ts";
