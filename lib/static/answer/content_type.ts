import mime from "mime-types";

const UNKNOWN = "application/octet-stream";
/** By extension in lower case; there are few. */
const known = new Map<string, string>();

/**
 * The `Content-Type` of a file by its extension, with `charset=utf-8` for text; `application/octet-stream` for what is
 * not known.
 */
export function contentTypeOf(path: string): string {
  const dot = path.lastIndexOf(".");
  if (dot <= path.lastIndexOf("/")) return UNKNOWN;
  const extension = path.slice(dot + 1).toLowerCase();
  let type = known.get(extension);
  if (type === undefined) {
    type = typeOf(extension);
    known.set(extension, type);
  }
  return type;
}

function typeOf(extension: string): string {
  const type = mime.lookup(extension) || UNKNOWN;
  const charset = mime.charset(type);
  return charset ? `${type}; charset=${charset.toLowerCase()}` : type;
}
