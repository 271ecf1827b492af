import { UploadError } from "../../../lib/upload/mod.ts";
import type { RequestCase } from "./request_case.ts";
import { END, file, FORM } from "./sent_form.ts";

/** Cases of other methods and paths, and of faults. */
export const otherCases: readonly RequestCase[] = [
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
