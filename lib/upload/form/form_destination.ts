import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BodyDestination } from "../open_sink.ts";
import type { FormPart } from "./form_part.ts";
import { randomName } from "./random_name.ts";

/**
 * Where the files of a form go: a folder, as a path or a `file:` URL, where each gets a random name with the extension
 * of its own name or type; or a function that says where each goes, or undefined to skip it.
 */
export type FormDestination =
  | string
  | URL
  | ((part: FormPart) => BodyDestination | undefined | Promise<BodyDestination | undefined>);

/** Says where a file goes. */
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
