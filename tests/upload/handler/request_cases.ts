import { Buffer } from "node:buffer";
import { UploadError, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";

/** A request, and what must come of it whichever way it takes. */
export interface RequestCase {
  readonly name: string;
  readonly options?: Partial<UploadHandlerOptions>;
  /** What is there before. */
  readonly files?: Readonly<Record<string, string>>;
  readonly request: readonly [method: string, target: string, ...lines: string[]];
  /** Sent with Content-Length, unless a line says how it is sent. */
  readonly body?: string;
  readonly status: number;
  /** Of the problem; undefined if there is none. */
  readonly code?: string;
  readonly fields?: Readonly<Record<string, string | RegExp>>;
  /** Of what is stored: the answer's `files`, without what is undefined here. */
  readonly stored?: readonly Readonly<Record<string, unknown>>[];
  /** The answer's `fields`. */
  readonly texts?: Readonly<Record<string, unknown>>;
  /** What is there afterwards; default: what was before. */
  readonly left?: Readonly<Record<string, string>>;
}

const CHUNKED = "Transfer-Encoding: chunked";
const FORM = "Content-Type: multipart/form-data; boundary=limit";
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const part = (header: string, text: string): string =>
  `--limit\r\nContent-Disposition: form-data; ${header}\r\n\r\n${text}\r\n`;
const file = (field: string, name: string, text: string, type = "text/plain"): string =>
  part(`name="${field}"; filename="${name}"\r\nContent-Type: ${type}`, text);
const END = "--limit--\r\n";
const SHA256_OF_HELLO = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:";
const SHA256_OF_ELSE = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:";

const puts: RequestCase[] = [
  {
    name: "PUT stores the body under the path's name",
    request: ["PUT", "/note.txt?version=1", "Content-Type: text/plain"],
    body: "hello",
    status: 201,
    fields: { location: "/note.txt", "content-type": "application/json" },
    stored: [{ name: "note.txt", bytes: 5, contentType: "text/plain" }],
    texts: {},
    left: { "note.txt": "hello" },
  },
  {
    name: "PUT stores an empty body",
    request: ["PUT", "/empty"],
    body: "",
    status: 201,
    stored: [{ name: "empty", bytes: 0, contentType: "application/octet-stream" }],
    left: { empty: "" },
  },
  {
    name: "PUT stores a chunked body",
    request: ["PUT", "/chunked", CHUNKED],
    body: chunked("hello"),
    status: 201,
    left: { chunked: "hello" },
  },
  {
    name: "PUT decodes the path once, and names the place in URL form",
    request: ["PUT", "/a%20b%2525.txt"],
    body: "hello",
    status: 201,
    fields: { location: "/a%20b%2525.txt" },
    stored: [{ name: "a b%25.txt", bytes: 5, contentType: "application/octet-stream" }],
    left: { "a b%25.txt": "hello" },
  },
  {
    name: "PUT stores into a folder that is there, below the base path",
    options: { basePath: "/files" },
    files: { "sub/x": "" },
    request: ["PUT", "/files/sub/y"],
    body: "hello",
    status: 201,
    fields: { location: "/files/sub/y" },
    left: { "sub/x": "", "sub/y": "hello" },
  },
  {
    name: "PUT into a folder that is missing",
    request: ["PUT", "/sub/y"],
    body: "hello",
    status: 409,
    code: "NO_FOLDER",
  },
  {
    name: "PUT below a file",
    files: { sub: "file" },
    request: ["PUT", "/sub/y"],
    body: "hello",
    status: 409,
    code: "NO_FOLDER",
  },
  {
    name: "PUT where a folder is",
    options: { overwrite: true },
    files: { "sub/x": "" },
    request: ["PUT", "/sub"],
    body: "hello",
    status: 409,
    code: "EXISTS",
  },
  {
    name: "PUT where a file is",
    files: { note: "former" },
    request: ["PUT", "/note"],
    body: "hello",
    status: 409,
    code: "EXISTS",
  },
  {
    name: "PUT that replaces a file",
    options: { overwrite: true },
    files: { note: "former" },
    request: ["PUT", "/note"],
    body: "hello",
    status: 200,
    left: { note: "hello" },
  },
  {
    name: "PUT with a digest that is asked for, and one that holds",
    options: { digest: "sha-256" },
    request: ["PUT", "/note", `Content-Digest: ${SHA256_OF_HELLO}`],
    body: "hello",
    status: 201,
    fields: { "repr-digest": SHA256_OF_HELLO },
    stored: [{ name: "note", bytes: 5, digest: SHA256_OF_HELLO, contentType: "application/octet-stream" }],
    left: { note: "hello" },
  },
  {
    name: "PUT with a digest of something else",
    request: ["PUT", "/note", `Content-Digest: ${SHA256_OF_ELSE}`],
    body: "hello",
    status: 422,
    code: "DIGEST_MISMATCH",
  },
  {
    name: "PUT with a digest that is none",
    request: ["PUT", "/note", "Repr-Digest: sha-256=hello"],
    body: "hello",
    status: 400,
    code: "BAD_DIGEST",
  },
  {
    name: "PUT of a part",
    request: ["PUT", "/note", "Content-Range: bytes 0-4/10"],
    body: "hello",
    status: 400,
    code: "PARTIAL_PUT",
  },
  {
    name: "PUT that is too long by its length",
    options: { maxBytes: 4 },
    request: ["PUT", "/note"],
    body: "hello",
    status: 413,
    code: "TOO_LARGE",
  },
  {
    name: "PUT that turns out too long",
    options: { maxBytes: 4 },
    request: ["PUT", "/note", CHUNKED],
    body: chunked("hello"),
    status: 413,
    code: "TOO_LARGE",
  },
  {
    name: "PUT without a length, where one is required",
    options: { requireLength: true },
    request: ["PUT", "/note", CHUNKED],
    body: chunked("hello"),
    status: 411,
    code: "LENGTH_REQUIRED",
  },
  {
    name: "PUT of a type that is not accepted",
    options: { accept: ["image/*", "text/csv"] },
    request: ["PUT", "/note", "Content-Type: text/plain"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
    fields: { accept: "image/*, text/csv" },
  },
  {
    name: "PUT of a type that is accepted",
    options: { accept: "image/*, TEXT/CSV" },
    request: ["PUT", "/note", "Content-Type: text/csv; charset=utf-8"],
    body: "hello",
    status: 201,
    left: { note: "hello" },
  },
  {
    name: "PUT with a coding that is not known",
    options: { decode: true },
    request: ["PUT", "/note", "Content-Encoding: snappy"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
    fields: { "accept-encoding": "gzip, deflate, br, zstd" },
  },
  {
    name: "PUT with a coding that it does not have",
    options: { decode: true },
    request: ["PUT", "/note", "Content-Encoding: gzip"],
    body: "hello",
    status: 400,
    code: "MALFORMED",
  },
];

const conditional: RequestCase[] = [
  {
    name: "PUT if nothing is there, and something is",
    options: { overwrite: true },
    files: { note: "former" },
    request: ["PUT", "/note", "If-None-Match: *"],
    body: "hello",
    status: 412,
    code: "PRECONDITION_FAILED",
  },
  {
    name: "PUT if nothing is there, and so it is",
    options: { overwrite: true },
    request: ["PUT", "/note", "If-None-Match: *"],
    body: "hello",
    status: 201,
    left: { note: "hello" },
  },
  {
    name: "PUT if something is there, and nothing is",
    options: { overwrite: true },
    request: ["PUT", "/note", "If-Match: *"],
    body: "hello",
    status: 412,
    code: "PRECONDITION_FAILED",
  },
  {
    name: "PUT if something is there, and so it is",
    options: { overwrite: true },
    files: { note: "former" },
    request: ["PUT", "/note", "If-Match: *"],
    body: "hello",
    status: 200,
    left: { note: "hello" },
  },
  {
    name: "PUT if it has a tag, which no file has",
    options: { overwrite: true },
    files: { note: "former" },
    request: ["PUT", "/note", 'If-Match: "tag"'],
    body: "hello",
    status: 412,
    code: "PRECONDITION_FAILED",
  },
  {
    name: "PUT if it has not changed for long, and it has",
    options: { overwrite: true },
    files: { note: "former" },
    request: ["PUT", "/note", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"],
    body: "hello",
    status: 412,
    code: "PRECONDITION_FAILED",
  },
];

const posts: RequestCase[] = [
  {
    name: "POST stores the body under a new name",
    request: ["POST", "/any/path", "Content-Type: text/csv; charset=utf-8"],
    options: { name: ({ contentType }) => `${contentType.length}.csv` },
    body: "hello",
    status: 201,
    fields: { location: "/23.csv" },
    left: { "23.csv": "hello" },
  },
  {
    name: "POST of a form stores its files, and tells its texts",
    request: ["POST", "/", FORM],
    options: { name: ({ field, filename }) => `${field}-${filename}`, digest: "sha-256" },
    body: part('name="t"', "one") + file("f", "a.txt", "hello") + part('name="t"', "two") + part('name="u"', "") + END,
    status: 201,
    fields: { location: "/f-a.txt", "repr-digest": SHA256_OF_HELLO },
    stored: [{
      name: "f-a.txt",
      bytes: 5,
      digest: SHA256_OF_HELLO,
      field: "f",
      filename: "a.txt",
      contentType: "text/plain",
    }],
    texts: { t: ["one", "two"], u: "" },
    left: { "f-a.txt": "hello" },
  },
  {
    name: "POST of a form with several files names no one place",
    request: ["POST", "/", FORM],
    options: { name: ({ filename }) => filename },
    body: file("f", "a", "hello") + file("f", "b", "world") + END,
    status: 201,
    stored: [
      { name: "a", bytes: 5, field: "f", filename: "a", contentType: "text/plain" },
      { name: "b", bytes: 5, field: "f", filename: "b", contentType: "text/plain" },
    ],
    left: { a: "hello", b: "world" },
  },
  {
    name: "POST of a form without files",
    request: ["POST", "/", FORM],
    body: part('name="__proto__"', "text") + END,
    status: 200,
    stored: [],
    texts: JSON.parse('{"__proto__":"text"}'),
  },
  {
    name: "POST of a form some of whose files are refused skips them",
    options: { name: ({ filename }) => filename === "a" ? undefined : filename },
    request: ["POST", "/", FORM],
    body: file("f", "a", "hello") + file("f", "b", "world") + END,
    status: 201,
    left: { b: "world" },
  },
  {
    name: "POST of a form with a type that is not accepted stores none of its files",
    options: { name: ({ filename }) => filename, accept: "text/csv" },
    request: ["POST", "/", FORM],
    body: file("f", "a", "hello", "text/csv") + file("f", "b", "world", "image/png") + END,
    status: 415,
    code: "UNSUPPORTED",
    fields: { accept: "text/csv" },
  },
  {
    name: "POST of a form two of whose files have one name",
    options: { name: () => "same", overwrite: true },
    request: ["POST", "/", FORM],
    body: file("f", "a", "hello") + file("f", "b", "world") + END,
    status: 409,
    code: "EXISTS",
  },
  {
    name: "POST of a form a file of which is there",
    options: { name: ({ filename }) => filename },
    files: { b: "former" },
    request: ["POST", "/", FORM],
    body: file("f", "a", "hello") + file("f", "b", "world") + END,
    status: 409,
    code: "EXISTS",
  },
  {
    name: "POST of a form whose file leads out of the folder",
    options: { name: ({ filename }) => filename },
    request: ["POST", "/", FORM],
    body: file("f", "../../x", "hello") + END,
    status: 400,
    code: "OUTSIDE_ROOT",
  },
  {
    name: "POST of a form that ends too early",
    request: ["POST", "/", FORM],
    body: file("f", "a", "hello"),
    status: 400,
    code: "MALFORMED",
  },
  {
    name: "POST of a form without a boundary",
    request: ["POST", "/", "Content-Type: multipart/form-data"],
    body: "hello",
    status: 400,
    code: "MALFORMED",
  },
  {
    name: "POST of a form with too many parts",
    options: { maxParts: 1 },
    request: ["POST", "/", FORM],
    body: file("f", "a", "hello") + file("f", "b", "world") + END,
    status: 413,
    code: "TOO_LARGE",
  },
  {
    name: "POST of a form that is compressed",
    request: ["POST", "/", FORM, "Content-Encoding: gzip"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
    fields: { "accept-encoding": "identity" },
  },
];

const others: RequestCase[] = [
  ...["GET", "HEAD", "DELETE", "PATCH"].map((method): RequestCase => ({
    name: `${method} is not answered otherwise than by what is allowed`,
    request: [method, "/note"],
    files: { note: "former" },
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    fields: { allow: "OPTIONS, POST, PUT" },
  })),
  {
    name: "OPTIONS tells what is allowed",
    options: { accept: "image/*" },
    request: ["OPTIONS", "/note"],
    status: 204,
    fields: { allow: "OPTIONS, POST, PUT", "accept-post": "multipart/form-data, image/*" },
  },
  {
    name: "a path beside the base path",
    options: { basePath: "/files/" },
    request: ["PUT", "/filesystem"],
    body: "hello",
    status: 404,
    code: "NOT_FOUND",
  },
  {
    name: "the base path itself takes POST",
    options: { basePath: "/files/", name: () => "new" },
    request: ["POST", "/files"],
    body: "hello",
    status: 201,
    fields: { location: "/files/new" },
    left: { new: "hello" },
  },
  {
    name: "a file that name() refuses",
    options: { name: () => undefined },
    request: ["PUT", "/note"],
    body: "hello",
    status: 404,
    code: "NOT_FOUND",
  },
  {
    name: "name() that throws",
    options: {
      name: () => {
        throw new Error("cannot ask /secret/database");
      },
    },
    request: ["PUT", "/note"],
    body: "hello",
    status: 500,
    code: "INTERNAL",
  },
  {
    name: "name() that is rejected with nothing",
    options: { name: () => Promise.reject() },
    request: ["PUT", "/note"],
    body: "hello",
    status: 500,
    code: "INTERNAL",
  },
  {
    name: "name() that gives no name",
    options: { name: (() => 7) as unknown as () => string },
    request: ["PUT", "/note"],
    body: "hello",
    status: 500,
    code: "INTERNAL",
  },
  {
    name: "name() in a form that throws",
    options: {
      name: () => {
        throw new Error("cannot ask /secret/database");
      },
    },
    request: ["POST", "/", FORM],
    body: file("f", "a", "hello") + END,
    status: 500,
    code: "INTERNAL",
  },
  {
    name: "a disk that is full",
    options: {
      name: () => Promise.reject(new UploadError("NO_SPACE", "The disk is full")),
    },
    request: ["PUT", "/note"],
    body: "hello",
    status: 507,
    code: "NO_SPACE",
  },
  {
    name: "too many open files",
    options: {
      name: () => Promise.reject(new Error("busy", { cause: Object.assign(new Error("EMFILE"), { code: "EMFILE" }) })),
    },
    request: ["PUT", "/note"],
    body: "hello",
    status: 503,
    code: "BUSY",
    fields: { "retry-after": "1" },
  },
  {
    name: "a sender who falls silent",
    options: { idleTimeout: 50 },
    request: ["PUT", "/note", "Content-Length: 50"],
    body: "hello",
    status: 408,
    code: "TIMEOUT",
  },
  {
    name: "a sender who takes too long",
    options: { timeout: 50 },
    request: ["PUT", "/note", "Content-Length: 100000"],
    body: "hello",
    status: 408,
    code: "TIMEOUT",
  },
];

const badNames: RequestCase[] = [
  ["no name", "/"],
  ["an empty part", "/a//b"],
  ["a slash at the end", "/a/"],
  ["an encoded slash", "/a%2Fb"],
  ["an encoded backslash", "/a%5cb"],
  ["a zero byte", "/a%00b"],
  ["a line end", "/a%0Ab"],
  ["a control character of Latin-1", "/a%C2%85b"],
  ["what is not UTF-8", "/%FF"],
  ["what is not percent-encoded", "/%zz"],
  ["a part of 256 bytes", `/${"a".repeat(256)}`],
  ["a part of 86 characters of 3 bytes", `/${"%E2%82%AC".repeat(86)}`],
  ["a name of temporary files", "/.millrace-1-2.tmp"],
  ["a name of temporary files in capitals", "/.MILLRACE-x"],
].map(([what, target]) => ({
  name: `PUT to a path with ${what}`,
  request: ["PUT", target],
  body: "hello",
  status: 400,
  code: "BAD_NAME",
}));

/** All of them. */
export const requestCases: readonly RequestCase[] = [...puts, ...conditional, ...posts, ...others, ...badNames];

/** The bytes that ask for it. */
export function bytesOf({ request: [method, target, ...lines], body }: RequestCase): Uint8Array {
  const isLong = body === undefined || lines.some((line) => /^(?:content-length|transfer-encoding):/i.test(line));
  const length = isLong ? [] : [`Content-Length: ${Buffer.byteLength(body, "latin1")}`];
  const head = [`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", ...lines, ...length, "Connection: close", "", ""];
  return Buffer.from(head.join("\r\n") + (body ?? ""), "latin1");
}
