import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** Returns the head of a request. */
export function head(method: string, target: string, fields: readonly string[] = []): string {
  return [`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", ...fields, "", ""].join("\r\n");
}

/** Bytes as one chunk of the chunked coding. */
export function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/** The last chunk of a body in the chunked coding. */
export const lastChunk = "0\r\n\r\n";

/** Returns all of a body in the chunked coding. */
export function chunked(bytes: Uint8Array, chunkSize = 50_000): Uint8Array {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize) chunks.push(chunk(bytes.subarray(at, at + chunkSize)));
  return Buffer.concat([...chunks, Buffer.from(lastChunk)]);
}

/** Returns a `Content-Digest` or `Repr-Digest` field line of RFC 9530. */
export function digestField(bytes: Uint8Array, algorithm: "sha-256" | "sha-512", name = "Content-Digest"): string {
  return `${name}: ${algorithm}=:${createHash(algorithm.replace("-", "")).update(bytes).digest("base64")}:`;
}

/** Returns the SHA-256 of bytes, in hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The boundary of the forms' parts. */
export const boundary = "----mill-7d3a91";

/** The field that says so. */
export const formType: string = `Content-Type: multipart/form-data; boundary=${boundary}`;

/** Returns a form with a text field and the files given. */
export function form(files: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const part = (rest: string): Uint8Array => Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${rest}`);
  const parts = Object.entries(files).flatMap(([name, bytes]) => [
    part(`name="${name}"; filename="${name}.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([part(`name="title"\r\n\r\nThe mill\r\n`), ...parts, Buffer.from(`--${boundary}--\r\n`)]);
}
