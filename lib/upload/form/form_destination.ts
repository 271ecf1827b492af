import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import mime from "mime-types";
import type { BodyDestination } from "../sink/open_sink.ts";
import type { FormPart } from "./form_part.ts";

/**
 * The destination of a form's files: a folder, as a path or a `file:` URL, where each gets a random name with the
 * extension of its own name or type; or a function that returns the destination of each, or undefined to skip it.
 *
 * @example Keep pictures, and skip all else
 * ```ts
 * import { type FormDestination, saveForm } from "@millrace/streams/upload";
 * import { randomUUID } from "node:crypto";
 *
 * const pictures: FormDestination = ({ contentType }) =>
 *   contentType === "image/png" ? `uploads/${randomUUID()}.png` : undefined;
 * const body = new FormData();
 * body.append("a", new File(["…"], "mill.png", { type: "image/png" }));
 * body.append("b", new File(["…"], "notes.txt", { type: "text/plain" }));
 * const { files } = await saveForm(new Request("http://localhost/", { method: "POST", body }), pictures);
 * console.log(files.map(({ filename }) => filename).join()); // mill.png
 * ```
 */
export type FormDestination =
  | string
  | URL
  | ((part: FormPart) => BodyDestination | undefined | Promise<BodyDestination | undefined>);

/** A function that returns the destination of a part's file. */
export type Destine = (part: FormPart) => BodyDestination | undefined | Promise<BodyDestination | undefined>;

/** @throws {TypeError} if it is no destination of a form. */
export function destineBy(destination: FormDestination): Destine {
  if (typeof destination === "function") return destination;
  if (typeof destination !== "string" && !(destination instanceof URL)) {
    const words = "a folder's path or file: URL, or a function that gives a destination for each file";
    throw new TypeError(`The destination of a form must be ${words}, not ${String(destination)}`);
  }
  const folder = typeof destination === "string" ? destination : fileURLToPath(destination);
  return ({ filename, contentType }) => join(folder, randomName(filename, contentType));
}

/**
 * A new name for a file that was sent: a random UUID, and the extension that its name or, if that has none, its type
 * has.
 *
 * @param filename The name that the sender gave it. Nothing of it is taken over but an extension of 1 to 16 letters
 * and digits of ASCII, in lower case.
 * @param contentType Its media type, with or without parameters.
 */
export function randomName(filename: string, contentType: string): string {
  const [, own] = /\.([\da-z]{1,16})$/i.exec(filename) ?? [];
  const extension = own?.toLowerCase() ?? (mime.extension(contentType) || undefined);
  return extension === undefined ? randomUUID() : `${randomUUID()}.${extension}`;
}
