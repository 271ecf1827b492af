import { S3Bucket } from "../../../lib/s3/mod.ts";
import { rangeOptions, readOptions } from "../../../lib/s3/object_readable.ts";
import {
  deleteOptions,
  formOptions,
  headOptions,
  listOptions,
  presignOptions,
  removeOptions,
} from "../../../lib/s3/s3_bucket.ts";
import { s3BucketOptions, s3Credentials } from "../../../lib/s3/s3_bucket_options.ts";
import { copyOptions, joinOptions, putOptions, resumeOptions, writableOptions } from "../../../lib/s3/s3_object.ts";
import { beside, type Taker } from "../taker.ts";

const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
const required = { endpoint: "http://127.0.0.1:2", bucket: "films", credentials, retries: 0 };
const bucket = new S3Bucket(required);

export const takers: readonly Taker[] = [
  { schema: s3BucketOptions, options: "S3BucketOptions", take: (options) => new S3Bucket(beside(required, options)) },
  {
    schema: s3Credentials,
    options: "S3Credentials",
    ignoresUnknown: true,
    take: (keys) => new S3Bucket({ ...required, credentials: beside(credentials, keys) as never }),
  },
  {
    schema: s3Credentials,
    options: "S3Credentials",
    ignoresUnknown: true,
    take: (keys) => new S3Bucket({ ...required, credentials: () => (beside(credentials, keys)) }).put("a", ""),
  },
  { schema: putOptions, options: "S3PutOptions", take: (options) => bucket.put("a", "", options) },
  { schema: copyOptions, take: (options) => bucket.copy("a", "b", options) },
  { schema: joinOptions, take: (options) => bucket.join([], "b", options) },
  { schema: writableOptions, options: "S3WritableOptions", take: (options) => bucket.writable("a", options) },
  { schema: resumeOptions, take: (options) => bucket.resume("a", "upload", options) },
  { schema: readOptions, options: "S3ReadOptions", take: (options) => bucket.readable("a", options) },
  {
    schema: rangeOptions,
    take: (range) => bucket.readable("a", { range: beside({ start: 0 }, range) as never }),
  },
  { schema: headOptions, take: (options) => bucket.head("a", options) },
  { schema: deleteOptions, take: (options) => bucket.delete("a", options) },
  { schema: listOptions, take: (options) => bucket.list(options) },
  { schema: formOptions, take: (options) => bucket.presignPost("a", beside({ maxSize: 1 }, options) as never) },
  { schema: presignOptions, take: (options) => bucket.presign("a", options) },
  { schema: removeOptions, take: (options) => bucket.removeAbandoned(options) },
];
