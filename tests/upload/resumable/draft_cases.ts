import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ExchangeCase, Step } from "./exchange_case.ts";

const PARTIAL = "Content-Type: application/partial-upload";
const CHUNKED = "Transfer-Encoding: chunked";
const V8 = "Upload-Draft-Interop-Version: 8";
const PROBLEM = "https://iana.org/assignments/http-problem-types#";
const UPLOAD = /^\/[0-9a-f]{32}$/;
const LIMIT = /^max-size=1073741824, max-age=86(?:400|3\d\d)$/;

const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const digest = (text: string): string => `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;

const gzip = gzipSync("hello");
const FORM = '--b\r\nContent-Disposition: form-data; name="f"; filename="note"\r\n\r\nhello\r\n--b--\r\n';

/** Creates an upload of `note`, and leaves it incomplete. */
const begin = (body: string, ...lines: string[]): Step => ({
  request: ["PUT", "/note", "Upload-Complete: ?0", ...lines],
  body,
  status: 201,
});
const append = (offset: number, body: string, isLast: boolean, ...lines: string[]): Step => ({
  request: ["PATCH", "{upload}", PARTIAL, `Upload-Offset: ${offset}`, `Upload-Complete: ?${isLast ? 1 : 0}`, ...lines],
  body,
});
const head: Step = { request: ["HEAD", "{upload}"], status: 204 };
const gone: Step = { request: ["HEAD", "{upload}"], status: 404 };

/** Section 4.1.1: the offset. */
const offsets: ExchangeCase[] = [
  ...["-1", "1.5", "a", "?1", '"1"', "1, 2", "1000000000000000"].map((value): ExchangeCase => ({
    name: `Upload-Offset: ${value} MUST be ignored`,
    steps: [begin("hello"), {
      request: ["PATCH", "{upload}", PARTIAL, `Upload-Offset: ${value}`, "Upload-Complete: ?1"],
      body: "",
      status: 400,
      problem: { code: "BAD_FIELD" },
    }, { ...head, fields: { "upload-offset": "5" } }],
  })),
  {
    name: "parameters of Upload-Offset and Upload-Complete do not change their values",
    steps: [begin("hello"), {
      request: ["PATCH", "{upload}", PARTIAL, "Upload-Offset: 5;a=b;c", "Upload-Complete: ?1;q"],
      body: "",
      status: 201,
    }],
    left: { note: "hello" },
  },
];

/** Section 4.1.2: completeness. */
const completeness: ExchangeCase[] = [
  ...["1", "true", "?2", "?1, ?1", "yes"].map((value): ExchangeCase => ({
    name: `Upload-Complete: ${value} MUST be ignored: the upload is an ordinary one`,
    steps: [{
      request: ["PUT", "/note", `Upload-Complete: ${value}`],
      body: "hello",
      status: 201,
      fields: { location: "/note", "upload-complete": undefined },
      interim: [],
    }],
    left: { note: "hello" },
  })),
  {
    name: "an upload whose offset is its length is incomplete until it is said to be complete",
    steps: [
      begin("hello", "Upload-Length: 5"),
      { ...head, fields: { "upload-complete": "?0", "upload-offset": "5", "upload-length": "5" } },
      { ...append(5, "", true), status: 201, fields: { "upload-complete": "?1" } },
      { ...head, fields: { "upload-complete": "?1", "upload-offset": "5" } },
    ],
    left: { note: "hello" },
  },
  {
    name: "after an upload is complete, no bytes of an unknown length MUST be appended, and none are a repetition",
    steps: [
      begin("hello"),
      { ...append(5, "", true), status: 201 },
      ...[true, false].map((isLast): Step => ({
        ...append(5, chunked(" more"), isLast, CHUNKED),
        status: 400,
        problem: { type: `${PROBLEM}completed-upload`, code: "COMPLETED" },
      })),
      { ...append(5, "0\r\n\r\n", true, CHUNKED), status: 201 },
      { ...head, fields: { "upload-offset": "5", "upload-complete": "?1" } },
    ],
    left: { note: "hello" },
  },
  {
    name: "after an upload is complete, no more MUST be appended",
    steps: [
      begin("hello"),
      { ...append(5, "", true), status: 201 },
      {
        ...append(5, "more", true),
        status: 400,
        fields: { "upload-complete": "?0" },
        problem: { type: `${PROBLEM}completed-upload`, code: "COMPLETED" },
      },
      { ...head, fields: { "upload-offset": "5", "upload-complete": "?1" } },
    ],
    left: { note: "hello" },
  },
];

/** Section 4.1.3: the length. */
const lengths: ExchangeCase[] = [
  {
    name: "Upload-Length and Content-Length of a creation that is complete MUST match",
    steps: [{
      request: ["PUT", "/note", "Upload-Complete: ?1", "Upload-Length: 6"],
      body: "hello",
      status: 400,
      fields: { "upload-complete": "?0" },
      problem: { type: `${PROBLEM}inconsistent-upload-length` },
    }],
  },
  {
    name: "lengths of several requests MUST match",
    steps: [
      begin("hello", "Upload-Length: 10"),
      {
        ...append(5, "world", false, "Upload-Length: 11"),
        status: 400,
        fields: { "upload-complete": "?0" },
        problem: { type: `${PROBLEM}inconsistent-upload-length` },
      },
      {
        ...append(5, "worlds", true),
        status: 400,
        problem: { type: `${PROBLEM}inconsistent-upload-length` },
      },
      { ...append(5, "world", true), status: 201 },
    ],
    left: { note: "helloworld" },
  },
  {
    name: "the length that a later request tells MUST be recorded",
    steps: [
      begin("hello"),
      { ...head, fields: { "upload-length": undefined } },
      { ...append(5, "", false, "Upload-Length: 6"), status: 204 },
      { ...head, fields: { "upload-length": "6" } },
    ],
  },
  {
    name: "a length below the offset is refused",
    steps: [begin("hello"), {
      ...append(5, "", false, "Upload-Length: 4"),
      status: 400,
      problem: { code: "INCONSISTENT_LENGTH" },
    }],
  },
  ...["-1", "five", "5.0"].map((value): ExchangeCase => ({
    name: `Upload-Length: ${value} MUST be ignored`,
    steps: [begin("hello", `Upload-Length: ${value}`), { ...head, fields: { "upload-length": undefined } }],
  })),
  {
    name: "an upload that is said to be complete before its length is reached is not",
    steps: [
      begin("hello", "Upload-Length: 10"),
      {
        ...append(5, chunked("wor"), true, CHUNKED),
        status: 400,
        fields: { "upload-complete": "?0", "upload-offset": "8" },
      },
      { ...append(8, "ld", true), status: 201 },
    ],
    left: { note: "helloworld" },
  },
];

/** Section 4.1.4: limits. */
const limits: ExchangeCase[] = [
  {
    name: "OPTIONS MUST tell the limits",
    steps: [
      { request: ["OPTIONS", "/"], status: 204, fields: { "upload-limit": LIMIT } },
      { request: ["OPTIONS", "/note"], status: 204, fields: { "upload-limit": LIMIT } },
    ],
  },
  {
    name: "a length above the limit is 413, and SHOULD tell the limit",
    options: { maxBytes: 8 },
    steps: [{
      request: ["PUT", "/note", "Upload-Complete: ?0", "Upload-Length: 9"],
      body: "hello",
      status: 413,
      fields: { "upload-limit": /^max-size=8, / },
    }],
  },
  {
    name: "data above the limit is 413, and the upload inactive",
    options: { maxBytes: 8 },
    steps: [
      begin("hello"),
      { ...append(5, "more", false), status: 413, fields: { "upload-limit": /^max-size=8, / } },
      gone,
    ],
  },
  {
    name: "data in chunks above the limit is 413, and the upload inactive",
    options: { maxBytes: 8 },
    steps: [begin("hello"), { ...append(5, chunked("more"), false, CHUNKED), status: 413 }, gone],
  },
];

/** Section 4.2: creation. */
const creations: ExchangeCase[] = [
  {
    name: "example A: all of the data in one request: its target's response, and Upload-Complete: ?1",
    steps: [{
      request: ["PUT", "/note", "Upload-Complete: ?1", "Upload-Length: 5", V8],
      body: "hello",
      status: 201,
      fields: { location: "/note", "upload-complete": "?1", "content-type": "application/json" },
      interim: [{ location: UPLOAD, "upload-limit": LIMIT, "upload-draft-interop-version": "8" }],
    }],
    left: { note: "hello" },
  },
  {
    name: "example B: a part of the data: 201 with Location, Upload-Complete: ?0 and Upload-Limit",
    steps: [{
      ...begin("hello", "Upload-Length: 10", V8),
      fields: { location: UPLOAD, "upload-complete": "?0", "upload-limit": LIMIT, "upload-offset": "5" },
      interim: [{ location: UPLOAD }],
    }, head],
  },
  {
    name: "a creation that its target refuses creates nothing",
    files: { note: "former" },
    steps: [{
      request: ["PUT", "/note", "Upload-Complete: ?0", V8],
      body: "hello",
      status: 409,
      fields: { location: undefined, "upload-complete": "?1" },
      problem: { code: "EXISTS" },
      interim: [],
    }],
  },
  {
    name: "POST gives the file a new name, as without resumption",
    options: { name: ({ method, path, contentType }) => `${method}-${path}-${contentType.replace("/", "-")}` },
    steps: [{
      request: ["POST", "/x", "Upload-Complete: ?1", "Content-Type: text/plain"],
      body: "hello",
      status: 201,
      fields: { location: "/POST-x-text-plain" },
    }],
    left: { "POST-x-text-plain": "hello" },
  },
  {
    name: "an empty representation",
    steps: [{
      request: ["PUT", "/note", "Upload-Complete: ?1"],
      body: "",
      status: 201,
      fields: { "upload-complete": "?1" },
    }],
    left: { note: "" },
  },
  {
    name: "an empty creation, to learn the upload's URI",
    steps: [
      { ...begin(""), fields: { location: UPLOAD, "upload-offset": "0" } },
      { ...append(0, "hello", true), status: 201 },
    ],
    left: { note: "hello" },
  },
  {
    name: "of an interrupted creation as much as possible SHOULD be kept, and MUST NOT count as complete",
    steps: [
      begin(""),
      { ...append(0, "hello", true, "Content-Length: 10"), isCut: true },
      { ...head, fields: { "upload-offset": "5", "upload-complete": "?0", "upload-length": "10" } },
      { ...append(5, "world", true), status: 201 },
    ],
    left: { note: "helloworld" },
  },
  {
    name: "a URI is never used again",
    steps: [
      begin("hello"),
      { ...append(5, "", true), status: 201 },
      { request: ["DELETE", "{upload}"], status: 204 },
      gone,
    ],
    left: { note: "hello" },
  },
  {
    name: "preconditions are looked at when the upload is created",
    files: { note: "former" },
    options: { overwrite: true },
    steps: [{
      request: ["PUT", "/note", "Upload-Complete: ?0", "If-None-Match: *"],
      body: "hello",
      status: 412,
    }],
  },
  {
    name: "an upload that replaces a file",
    files: { note: "former" },
    options: { overwrite: true },
    steps: [begin("hello"), { ...append(5, "", true), status: 200 }],
    left: { note: "hello" },
  },
  ...[
    { target: "POST", path: "/", lines: ["Content-Type: multipart/form-data; boundary=b"], body: FORM },
    { target: "PUT", path: "/note", lines: ["Content-Encoding: gzip"], body: gzip.toString("latin1") },
  ].map(({ target, path, lines, body }): ExchangeCase => ({
    name: `${lines[0]}: what is no plain data is stored if all of it comes, and refused if there is to be more`,
    options: { name: ({ filename, path }) => filename ?? path, decode: true },
    steps: [
      {
        request: [target, path, "Upload-Complete: ?0", ...lines],
        body,
        status: 415,
        fields: { location: undefined, "accept-encoding": "identity" },
        problem: { code: "UNSUPPORTED" },
      },
      { request: [target, path, "Upload-Complete: ?1", ...lines, V8], body, status: 201, interim: [] },
    ],
    left: { note: "hello" },
  })),
];

/** Section 4.3: offset retrieval. */
const retrievals: ExchangeCase[] = [
  {
    name: "HEAD MUST tell offset, completeness, length and limits, and SHOULD forbid caching",
    steps: [begin("hello", "Upload-Length: 10"), {
      ...head,
      fields: {
        "upload-offset": "5",
        "upload-complete": "?0",
        "upload-length": "10",
        "upload-limit": LIMIT,
        "cache-control": "no-store",
      },
    }],
  },
  {
    name: "GET does the same",
    steps: [begin("hello"), { request: ["GET", "{upload}"], status: 204, fields: { "upload-offset": "5" } }],
  },
  {
    name: "what is no upload, or of the other protocol, is 404",
    steps: [
      { request: ["HEAD", `/${"0".repeat(32)}`], status: 404, fields: { "upload-offset": undefined } },
      {
        request: ["PATCH", `/${"0".repeat(32)}`, PARTIAL, "Upload-Offset: 0", "Upload-Complete: ?1"],
        body: "",
        status: 404,
      },
      { request: ["DELETE", `/${"0".repeat(32)}`], status: 404 },
      { request: ["POST", "/", "Tus-Resumable: 1.0.0", "Upload-Length: 5"], body: "", status: 201 },
      { request: ["HEAD", "{upload}"], status: 404 },
    ],
  },
];

/** Section 4.4: append. */
const appends: ExchangeCase[] = [
  {
    name: "the media type of data may have parameters",
    steps: [
      begin("hello"),
      {
        request: ["PATCH", "{upload}", `${PARTIAL}; charset=utf-8`, "Upload-Offset: 5", "Upload-Complete: ?1"],
        body: "world",
        status: 201,
      },
    ],
    left: { note: "helloworld" },
  },
  {
    name: "example A: an append that does not complete: 2xx, Upload-Complete: ?0",
    steps: [
      begin("hello"),
      { ...append(5, "wo", false), status: 204, fields: { "upload-complete": "?0", "upload-offset": "7" } },
      { ...append(7, "rld", false), status: 204 },
      { ...head, fields: { "upload-offset": "10" } },
    ],
  },
  {
    name: "example B: an append that completes: the target's response, Upload-Complete: ?1",
    steps: [begin("hello"), {
      ...append(5, "world", true),
      status: 201,
      fields: { "upload-complete": "?1", "content-type": "application/json", location: "/note" },
    }],
    left: { note: "helloworld" },
  },
  {
    name: "another offset MUST be 409 with the right one, and Upload-Complete: ?0",
    steps: [
      begin("hello"),
      ...[4, 6].map((offset): Step => ({
        ...append(offset, "x", true),
        status: 409,
        fields: { "upload-offset": "5", "upload-complete": "?0" },
        problem: {
          type: `${PROBLEM}mismatching-upload-offset`,
          "expected-offset": 5,
          "provided-offset": offset,
        },
      })),
      { ...append(5, "", true), status: 201 },
    ],
    left: { note: "hello" },
  },
  {
    name: "another media type is 415",
    steps: [begin("hello"), {
      request: ["PATCH", "{upload}", "Content-Type: text/plain", "Upload-Offset: 5", "Upload-Complete: ?1"],
      body: "",
      status: 415,
      fields: { "accept-patch": "application/partial-upload" },
    }],
  },
  {
    name: "an append MUST have Upload-Complete",
    steps: [begin("hello"), { request: ["PATCH", "{upload}", PARTIAL, "Upload-Offset: 5"], body: "", status: 400 }],
  },
  {
    name: "the response to a complete upload is repeated to who lost it",
    steps: [
      begin("hello"),
      { ...append(5, "world", true), status: 201 },
      { ...head, fields: { "upload-complete": "?1", "upload-offset": "10" } },
      {
        ...append(10, "", true),
        status: 201,
        fields: { "upload-complete": "?1", location: "/note", "content-type": "application/json" },
      },
    ],
    left: { note: "helloworld" },
  },
  {
    name: "data beyond the length MUST be refused, whatever Content-Length says, and the upload be invalid",
    steps: [
      begin("hello", "Upload-Length: 6"),
      {
        ...append(5, chunked("world"), false, CHUNKED),
        status: 400,
        problem: { type: `${PROBLEM}inconsistent-upload-length` },
      },
      gone,
    ],
  },
  {
    name: "the representation's type is that of its creation",
    options: { accept: "text/plain" },
    steps: [begin("hello", "Content-Type: text/plain"), { ...append(5, "", true), status: 201 }],
    left: { note: "hello" },
  },
];

/** Section 4.5: cancellation. */
const cancellations: ExchangeCase[] = [
  {
    name: "DELETE makes an upload inactive",
    steps: [
      begin("hello"),
      { request: ["DELETE", "{upload}"], status: 204 },
      gone,
      { ...append(5, "", true), status: 404 },
    ],
  },
];

/** Sections 8 and 10: codings and digests. */
const digests: ExchangeCase[] = [
  {
    name: "data whose Content-Digest is another SHOULD not be appended",
    steps: [
      begin("hello"),
      {
        ...append(5, "world", true, `Content-Digest: ${digest("else")}`),
        status: 422,
        fields: { "upload-complete": "?0", "upload-offset": "5" },
        problem: { code: "DIGEST_MISMATCH" },
      },
      { ...head, fields: { "upload-offset": "5" } },
      { ...append(5, "world", true, `Content-Digest: ${digest("world")}`), status: 201 },
    ],
    left: { note: "helloworld" },
  },
  {
    name: "example D: a representation whose Repr-Digest is another SHOULD be a failed upload",
    steps: [
      begin("hello", `Repr-Digest: ${digest("hello there")}`),
      {
        ...append(5, "world", true),
        status: 422,
        fields: { "upload-complete": "?1" },
        problem: { code: "DIGEST_MISMATCH" },
      },
      gone,
    ],
  },
  {
    name: "a Repr-Digest that holds is told in the response",
    steps: [
      begin("hello", `Repr-Digest: ${digest("helloworld")}`),
      { ...append(5, "world", true), status: 201, fields: { "repr-digest": digest("helloworld") } },
    ],
    left: { note: "helloworld" },
  },
  {
    name: "a Repr-Digest that is malformed is refused when the upload is created",
    steps: [{ request: ["PUT", "/note", "Upload-Complete: ?0", "Repr-Digest: sha-256=hello"], body: "", status: 400 }],
  },
];

/** Appendix: the version of the draft. */
const versions: ExchangeCase[] = [
  ...["", "Upload-Draft-Interop-Version: 7", "Upload-Draft-Interop-Version: 9", "Upload-Draft-Interop-Version: x"].map((
    line,
  ): ExchangeCase => ({
    name: `no 104 MUST be sent to who names ${line === "" ? "no version" : line}`,
    steps: [{
      request: ["PUT", "/note", "Upload-Complete: ?1", ...(line === "" ? [] : [line])],
      body: "hello",
      status: 201,
      interim: [],
    }],
    left: { note: "hello" },
  })),
  {
    name: "version 3, of iOS 17, is an ordinary upload",
    steps: [{
      request: ["PUT", "/note", "Upload-Draft-Interop-Version: 3", "Upload-Incomplete: ?0"],
      body: "hello",
      status: 201,
      fields: { location: "/note", "upload-offset": undefined, "upload-incomplete": undefined },
      interim: [],
    }],
    left: { note: "hello" },
  },
  ...[5].map((version): ExchangeCase => ({
    name: `version ${version}: Upload-Complete, no media type of its own`,
    steps: [
      {
        request: ["PUT", "/note", `Upload-Draft-Interop-Version: ${version}`, "Upload-Complete: ?0"],
        body: "hello",
        status: 201,
        fields: { location: UPLOAD, "upload-offset": "5", "upload-complete": "?0" },
        interim: [{ "upload-draft-interop-version": String(version) }],
      },
      {
        request: ["PATCH", "{upload}", `Upload-Draft-Interop-Version: ${version}`, "Upload-Offset: 5"],
        body: "wo",
        status: 204,
        fields: { "upload-offset": "7", "upload-complete": "?0" },
      },
      {
        request: [
          "PATCH",
          "{upload}",
          `Upload-Draft-Interop-Version: ${version}`,
          "Upload-Offset: 7",
          "Upload-Complete: ?1",
        ],
        body: "rld",
        status: 201,
        fields: { "upload-offset": "10", "upload-complete": "?1", location: "{upload}" },
      },
    ],
    left: { note: "helloworld" },
  })),
  ...[6, 8].map((version): ExchangeCase => ({
    name: `version ${version}: application/partial-upload`,
    steps: [
      {
        request: ["PUT", "/note", `Upload-Draft-Interop-Version: ${version}`, "Upload-Complete: ?0"],
        body: "hello",
        status: 201,
        fields: { "upload-limit": /max-age=86/ },
        interim: [{ "upload-draft-interop-version": String(version) }],
      },
      {
        request: [
          "PATCH",
          "{upload}",
          `Upload-Draft-Interop-Version: ${version}`,
          "Upload-Offset: 5",
          "Upload-Complete: ?1",
        ],
        body: "world",
        status: 415,
      },
      {
        request: [
          "PATCH",
          "{upload}",
          PARTIAL,
          `Upload-Draft-Interop-Version: ${version}`,
          "Upload-Offset: 5",
          "Upload-Complete: ?1",
        ],
        body: "world",
        status: 201,
        fields: { location: version === 6 ? "{upload}" : "/note" },
      },
    ],
    left: { note: "helloworld" },
  })),
];

/** The requirements of Resumable Uploads for HTTP for a server, by section. */
export const draftCases: readonly ExchangeCase[] = [
  ...offsets,
  ...completeness,
  ...lengths,
  ...limits,
  ...creations,
  ...retrievals,
  ...appends,
  ...cancellations,
  ...digests,
  ...versions,
];
