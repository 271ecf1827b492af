import { fileURLToPath } from "node:url";
import { RotatingFileWritable } from "../../files/mod.ts";
import type { BodySink } from "./body_sink.ts";
import { containedPath, shownName } from "./contained_path.ts";
import { openFileSink } from "./file_sink.ts";
import { openRotatingSink, openStreamSink } from "./stream_sinks.ts";
import type { SaveBodyOptions } from "../body/save_options.ts";

/**
 * The destination of a body: the path of a file or its `file:` URL, or a writable stream, native or Millrace's,
 * which is closed at the end, and aborted if the upload fails.
 *
 * Without `root`, a link is followed: the file that it leads to is replaced. Devices and pipes are not replaced but
 * written to. A file that is replaced hands its permission bits on, unless `mode` says otherwise.
 *
 * @example Split what comes into files of a size
 * ```ts
 * import { RotatingFileWritable } from "@millrace/streams/files";
 * import { type BodyDestination, saveBody } from "@millrace/streams/upload";
 * import { readdir } from "node:fs/promises";
 *
 * const destination: BodyDestination = new RotatingFileWritable({ directory: "parts", maxFileSize: 40_000 });
 * const body = new Uint8Array(100_000);
 * await saveBody(new Request("http://localhost/", { method: "PUT", body }), destination);
 * console.log((await readdir("parts")).length); // 3
 * ```
 */
export type BodyDestination = string | URL | WritableStream<Uint8Array>;

/**
 * Opens what a body is to be written to.
 *
 * @throws {UploadError} if the path leads out of the root, or there is a file that must not be replaced.
 * @throws {TypeError} if the destination is of another type, or a stream that is locked, closed or errored.
 * @throws {Error} what the file system says otherwise, with its `code`.
 */
export async function openSink(
  destination: BodyDestination,
  options: Pick<SaveBodyOptions, "root" | "overwrite" | "mode" | "flush" | "signal">,
): Promise<BodySink> {
  if (destination instanceof RotatingFileWritable) return await openRotatingSink(destination, options.signal);
  if (isWritableStream(destination)) return await openStreamSink(destination, options.signal);
  if (typeof destination !== "string" && !(destination instanceof URL)) throw notADestination(destination);
  const path = containedPath(destination, options.root);
  const root = typeof options.root === "object" ? fileURLToPath(options.root) : options.root;
  const given = typeof destination === "string" ? destination : path;
  return await openFileSink(path, shownName(given, root), options);
}

function isWritableStream(destination: unknown): destination is WritableStream<Uint8Array> {
  return typeof (destination as WritableStream | undefined | null)?.getWriter === "function";
}

function notADestination(destination: unknown): TypeError {
  const { write, pipe } = (destination ?? {}) as { write?: unknown; pipe?: unknown };
  const isNodeStream = typeof write === "function" && typeof pipe === "function";
  const found = isNodeStream
    ? "a stream of node:stream; fromNodeWritable() of @millrace/streams/node makes one of it"
    : destination === null || typeof destination !== "object"
    ? String(destination)
    : `an object of another type: ${Object.prototype.toString.call(destination)}`;
  return new TypeError(`the destination must be a path, a file: URL or a WritableStream, not ${found}`);
}
