import { randomUUID } from "node:crypto";
import mime from "mime-types";

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
