import { createHash } from "node:crypto";
import type { ExchangeCase, Step } from "./exchange_case.ts";

const TUS = "Tus-Resumable: 1.0.0";
const DATA = "Content-Type: application/offset+octet-stream";
const CHUNKED = "Transfer-Encoding: chunked";
const VERSION = { "tus-resumable": "1.0.0" };
const UPLOAD = /^\/[0-9a-f]{32}$/;
const DATE = /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/;

const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const checksum = (algorithm: string, text: string): string =>
  `Upload-Checksum: ${algorithm} ${createHash(algorithm).update(text).digest("base64")}`;

/** The name of all files in these cases. */
const options = { name: () => "note" };

const create = (...lines: string[]): Step => ({
  request: ["POST", "/", TUS, ...lines],
  body: "",
  status: 201,
  fields: { ...VERSION, location: UPLOAD },
});
const patch = (offset: number, body: string, ...lines: string[]): Step => ({
  request: ["PATCH", "{upload}", TUS, DATA, `Upload-Offset: ${offset}`, ...lines],
  body,
  status: 204,
  fields: { ...VERSION, "upload-offset": String(offset + body.length) },
});
const head = (fields: Step["fields"]): Step => ({
  request: ["HEAD", "{upload}", TUS],
  status: 200,
  fields: { ...VERSION, "cache-control": "no-store", ...fields },
});
const gone: Step = {
  request: ["HEAD", "{upload}", TUS],
  status: 404,
  fields: { ...VERSION, "upload-offset": undefined },
};

const core: ExchangeCase[] = [
  {
    name: "the media type of data may have parameters, as clients add a charset",
    options,
    steps: [
      { ...create("Upload-Length: 10", `${DATA}; charset=utf-8`), body: "hello" },
      {
        request: ["PATCH", "{upload}", TUS, `${DATA.toUpperCase()};charset=UTF-8`, "Upload-Offset: 5"],
        body: "world",
        status: 204,
      },
    ],
    left: { note: "helloworld" },
  },
  {
    name: "HEAD MUST tell offset and length, and forbid caching; PATCH goes on from there",
    steps: [
      create("Upload-Length: 10"),
      head({ "upload-offset": "0", "upload-length": "10" }),
      patch(0, "hello"),
      head({ "upload-offset": "5", "upload-length": "10" }),
      patch(5, "world"),
      head({ "upload-offset": "10", "upload-length": "10" }),
    ],
    left: { note: "helloworld" },
  },
  {
    name: "another version MUST be 412 with those that are known, and not processed",
    steps: [
      {
        request: ["POST", "/", "Tus-Resumable: 0.2.2", "Upload-Length: 5"],
        body: "",
        status: 412,
        fields: { ...VERSION, "tus-version": "1.0.0", location: undefined },
      },
      create("Upload-Length: 5"),
      {
        request: ["PATCH", "{upload}", "Tus-Resumable: 2.0.0", DATA, "Upload-Offset: 0"],
        body: "hello",
        status: 412,
        fields: { "tus-version": "1.0.0" },
      },
      head({ "upload-offset": "0" }),
    ],
  },
  {
    name: "another offset MUST be 409, and change nothing",
    steps: [
      create("Upload-Length: 10"),
      patch(0, "hello"),
      { ...patch(4, "x"), status: 409, fields: { ...VERSION, "upload-offset": "5" } },
      { ...patch(6, "x"), status: 409, fields: VERSION },
      head({ "upload-offset": "5" }),
    ],
  },
  ...["-1", "1.0", "x", "1 2", ""].map((value): ExchangeCase => ({
    name: `Upload-Offset: ${JSON.stringify(value)} is no number of bytes`,
    steps: [create("Upload-Length: 10"), {
      request: ["PATCH", "{upload}", TUS, DATA, `Upload-Offset: ${value}`],
      body: "x",
      status: 400,
      fields: VERSION,
    }],
  })),
  {
    name: "another media type SHOULD be 415",
    steps: [create("Upload-Length: 5"), {
      request: ["PATCH", "{upload}", TUS, "Content-Type: text/plain", "Upload-Offset: 0"],
      body: "hello",
      status: 415,
      fields: VERSION,
    }],
  },
  {
    name: "what is no upload SHOULD be 404",
    steps: [
      { ...gone, request: ["HEAD", `/${"0".repeat(32)}`, TUS] },
      {
        request: ["PATCH", `/${"0".repeat(32)}`, TUS, DATA, "Upload-Offset: 0"],
        body: "x",
        status: 404,
        fields: VERSION,
      },
      { request: ["DELETE", `/${"0".repeat(32)}`, TUS], status: 404, fields: VERSION },
      { request: ["PATCH", "/note", TUS, DATA, "Upload-Offset: 0"], body: "x", status: 405 },
    ],
  },
  {
    name: "as much as possible SHOULD be kept of data that is cut",
    steps: [
      create("Upload-Length: 10"),
      { ...patch(0, "hello", "Content-Length: 10"), isCut: true },
      head({ "upload-offset": "5" }),
      patch(5, "world"),
    ],
    left: { note: "helloworld" },
  },
  {
    name: "data beyond the length is 413",
    steps: [
      create("Upload-Length: 6"),
      patch(0, "hello"),
      { ...patch(5, "world"), status: 413, fields: VERSION },
      { ...patch(5, chunked("world"), CHUNKED), status: 413, fields: VERSION },
      head({ "upload-offset": "5" }),
      patch(5, "!"),
    ],
    left: { note: "hello!" },
  },
  {
    name: "data beyond an upload that is complete is 400, with or without a length or checksum, and none is 204",
    steps: [
      create("Upload-Length: 5"),
      patch(0, "hello"),
      { ...patch(5, "x"), status: 400, fields: VERSION, problem: { code: "COMPLETED" } },
      { ...patch(5, "x", checksum("sha1", "y")), status: 400, fields: VERSION },
      { ...patch(5, chunked("x"), CHUNKED), status: 400, fields: VERSION },
      patch(5, ""),
      { ...patch(5, "0\r\n\r\n", CHUNKED), fields: VERSION },
      head({ "upload-offset": "5" }),
    ],
    left: { note: "hello" },
  },
  {
    name: "OPTIONS MUST tell versions, and ignore Tus-Resumable",
    steps: ["Tus-Resumable: 1.0.0", "Tus-Resumable: 9.9.9", "X: y"].map((line): Step => ({
      request: ["OPTIONS", "/", line],
      status: 204,
      fields: {
        ...VERSION,
        "tus-version": "1.0.0",
        "tus-extension":
          "creation,creation-with-upload,creation-defer-length,checksum,expiration,termination,concatenation",
        "tus-checksum-algorithm": "sha1,sha256,sha512,md5",
        "tus-max-size": "1073741824",
      },
    })),
  },
  {
    name: "X-HTTP-Method-Override MUST be the method",
    steps: [
      create("Upload-Length: 10"),
      {
        request: ["POST", "{upload}", TUS, "X-HTTP-Method-Override: PATCH", DATA, "Upload-Offset: 0"],
        body: "hello",
        status: 204,
        fields: { "upload-offset": "5" },
      },
      { request: ["POST", "{upload}", TUS, "X-HTTP-Method-Override: DELETE"], body: "", status: 204 },
      gone,
    ],
  },
  {
    name: "X-HTTP-Method-Override that is no method of tus, or for what is no upload, stores nothing",
    steps: [
      create("Upload-Length: 10"),
      ...["TRACE", "DELETE, PATCH", "PUT"].map((method): Step => ({
        request: ["POST", "{upload}", TUS, `X-HTTP-Method-Override: ${method}`],
        body: "",
        status: 405,
      })),
      {
        request: ["POST", "/gone", TUS, "X-HTTP-Method-Override: PATCH", DATA, "Upload-Offset: 0"],
        body: "hello",
        status: 404,
      },
    ],
  },
];

const creation: ExchangeCase[] = [
  {
    name: "a creation without a length is 400, and so is one with two",
    steps: [[], ["Upload-Defer-Length: 2"], ["Upload-Length: x"], ["Upload-Length: 5", "Upload-Defer-Length: 1"]].map((
      lines,
    ): Step => ({ request: ["POST", "/", TUS, ...lines], body: "", status: 400, fields: VERSION })),
  },
  {
    name: "an empty upload is complete at once",
    steps: [create("Upload-Length: 0"), head({ "upload-offset": "0", "upload-length": "0" })],
    left: { note: "" },
  },
  {
    name: "a length above the maximum MUST be 413",
    options: { maxBytes: 4 },
    steps: [{ request: ["POST", "/", TUS, "Upload-Length: 5"], body: "", status: 413, fields: VERSION }],
  },
  {
    name: "HEAD MUST repeat the metadata",
    steps: [
      create("Upload-Length: 5", "Upload-Metadata: filename aGVsbG8udHh0,is_confidential,empty "),
      head({ "upload-metadata": /^filename aGVsbG8udHh0,is_confidential,empty ?$/ }),
    ],
  },
  ...["filename aGVsbG8udHh0,filename eA==", "filename a*b", "filename a b", ",", "näme eA=="].map((
    value,
  ): ExchangeCase => ({
    name: `Upload-Metadata: ${value} is malformed`,
    steps: [{
      request: ["POST", "/", TUS, "Upload-Length: 5", `Upload-Metadata: ${value}`],
      body: "",
      status: 400,
      fields: VERSION,
    }],
  })),
  {
    name: "name() is told the metadata",
    options: {
      name: ({ filename, contentType, metadata }) => `${filename}-${contentType.slice(-3)}-${metadata?.user}`,
    },
    steps: [
      create("Upload-Length: 2", "Upload-Metadata: filename YS5wbmc=,filetype aW1hZ2UvcG5n,user YWRh"),
      patch(0, "hi"),
    ],
    left: { "a.png-png-ada": "hi" },
  },
  {
    name: "types and extensions that are not accepted are 415",
    options: { accept: "image/*", extensions: ["png", "txt"] },
    steps: ["filetype dGV4dC9wbGFpbg==,filename YS5wbmc=", "filetype aW1hZ2UvcG5n,filename YS5leGU="].map((
      value,
    ): Step => ({
      request: ["POST", "/", TUS, "Upload-Length: 5", `Upload-Metadata: ${value}`],
      body: "",
      status: 415,
      fields: VERSION,
    })),
  },
  {
    name: "a name that is taken is 409 before the first byte",
    files: { note: "former" },
    steps: [{ request: ["POST", "/", TUS, "Upload-Length: 5"], body: "", status: 409, fields: VERSION }],
  },
  {
    name: "a length that is deferred: HEAD MUST say so until it is known",
    steps: [
      create("Upload-Defer-Length: 1"),
      head({ "upload-defer-length": "1", "upload-length": undefined }),
      patch(0, "hello"),
      patch(5, "wor", "Upload-Length: 10"),
      head({ "upload-defer-length": undefined, "upload-length": "10", "upload-offset": "8" }),
      { ...patch(8, "l", "Upload-Length: 11"), status: 400, fields: VERSION },
      patch(8, "ld"),
    ],
    left: { note: "helloworld" },
  },
  {
    name: "creation with a part of the data MUST tell the offset",
    steps: [
      {
        request: ["POST", "/", TUS, DATA, "Upload-Length: 10"],
        body: "hello",
        status: 201,
        fields: { "upload-offset": "5" },
      },
      patch(5, "world"),
    ],
    left: { note: "helloworld" },
  },
  {
    name: "creation with all of the data",
    steps: [{
      request: ["POST", "/", TUS, DATA, "Upload-Length: 5"],
      body: "hello",
      status: 201,
      fields: { ...VERSION, location: UPLOAD, "upload-offset": "5" },
    }],
    left: { note: "hello" },
  },
  {
    name: "creation with data of another type is 415",
    steps: [{ request: ["POST", "/", TUS, "Upload-Length: 5"], body: "hello", status: 415 }],
  },
];

const checksums: ExchangeCase[] = [
  {
    name: "data with another checksum MUST be 460, and MUST NOT change the offset",
    steps: [
      create("Upload-Length: 10"),
      patch(0, "hello", checksum("sha1", "hello")),
      { ...patch(5, "world", checksum("sha1", "else")), status: 460, fields: VERSION },
      head({ "upload-offset": "5" }),
      patch(5, "world", checksum("sha256", "world")),
    ],
    left: { note: "helloworld" },
  },
  {
    name: "data whose checksum cannot be verified, as it was cut, is not kept",
    steps: [
      create("Upload-Length: 10"),
      { ...patch(0, "hello", "Content-Length: 10", checksum("sha1", "helloworld")), isCut: true },
      head({ "upload-offset": "0" }),
    ],
  },
  ...["crc32 AAAAAA==", "sha1", "SHA1 AAAA", "sha1 *", "constructor AAAA"].map((value): ExchangeCase => ({
    name: `Upload-Checksum: ${value} is 400, and changes nothing`,
    steps: [
      create("Upload-Length: 10"),
      { ...patch(0, "hello", `Upload-Checksum: ${value}`), status: 400, fields: VERSION },
      head({ "upload-offset": "0" }),
    ],
  })),
];

const others: ExchangeCase[] = [
  {
    name: "Upload-Expires MUST be told while an upload is unfinished",
    steps: [
      { ...create("Upload-Length: 10"), fields: { "upload-expires": DATE } },
      { ...patch(0, "hello"), fields: { "upload-expires": DATE } },
      head({ "upload-expires": DATE }),
    ],
  },
  {
    name: "DELETE MUST be 204, and the upload SHOULD be gone",
    steps: [create("Upload-Length: 10"), patch(0, "hello"), {
      request: ["DELETE", "{upload}", TUS],
      status: 204,
      fields: VERSION,
    }, gone],
  },
  {
    name: "DELETE of an upload that is complete leaves the file, which is the application's",
    steps: [create("Upload-Length: 2"), patch(0, "hi"), { request: ["DELETE", "{upload}", TUS], status: 204 }, gone],
    left: { note: "hi" },
  },
  {
    name: "other requests are answered as without resumption",
    steps: [{ request: ["PUT", "/x"], body: "hello", status: 201 }, {
      request: ["PATCH", "/x"],
      body: "hello",
      status: 405,
    }, { request: ["GET", "/x"], status: 405 }],
    left: { note: "hello" },
  },
];

/** The requirements of tus 1.0.0 for a server, by extension. */
export const tusCases: readonly ExchangeCase[] = [...core, ...creation, ...checksums, ...others]
  .map((each) => ({ ...each, options: { ...options, ...each.options } }));
