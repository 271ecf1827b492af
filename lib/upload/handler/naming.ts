import { Buffer } from "node:buffer";
import { compatibleName, foldedName } from "../../files/internal.ts";
import { quoted, UploadError } from "../body/upload_error.ts";
import { pathOf } from "./incoming.ts";

/** The maximum size of a part of a path, in bytes, on most file systems. */
const MAX_NAME_BYTES = 255;
const OURS = ".millrace-";

/** Returns the encoded path of a target below `basePath`, which begins and ends with a slash; undefined for other paths. */
export function pathBelow(target: string, basePath: string): string | undefined {
  const path = pathOf({ target }) || "/";
  if (path.startsWith(basePath)) return path.slice(basePath.length);
  return `${path}/` === basePath ? "" : undefined;
}

/** Decodes a path. @throws {UploadError} `BAD_NAME` if it is malformed, or has an encoded slash. */
export function decodePath(path: string): string {
  if (/%2f/i.test(path)) throw badName(path, "it has an encoded slash");
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw badName(path, "it is not percent-encoded UTF-8", cause);
  }
}

/** Returns the path or URL of a file or session for its sender; `mount` is the path that a router removed. */
export function locationOf(
  { publicPath, basePath }: { readonly publicPath: string | undefined; readonly basePath: string },
  { mount }: { readonly mount: string },
  name: string,
): string {
  return (publicPath ?? mount + basePath) + name.split("/").map(encodeURIComponent).join("/");
}

/** Requires a name that a file can have on every system. @throws {UploadError} `BAD_NAME`, or `OUTSIDE_ROOT`. */
export function requireName(name: string, { dotfiles }: { readonly dotfiles: boolean }): void {
  if (name === "") throw new UploadError("BAD_NAME", "The file has no name: give it one in the path of the URL");
  for (const given of name.split("/")) {
    const part = compatibleName(given);
    if (part === "..") throw new UploadError("OUTSIDE_ROOT", `${quoted(name)} leads out of the folder for uploads`);
    const fault = faultOf(given, part);
    if (fault) throw badName(name, fault);
    if (part.startsWith(".") && !dotfiles) throw badName(name, "names that begin with a dot are not accepted");
  }
}

function faultOf(part: string, compatible: string): string | undefined {
  if (compatible === "") return "a part of it is empty";
  if (compatible === ".") return 'a part of it is "."';
  if (part.includes("\\")) return "it has a backslash";
  if (/\p{Cc}/u.test(part)) return "it has a control character";
  if (!part.isWellFormed()) return "it is no Unicode text";
  if (Buffer.byteLength(part) > MAX_NAME_BYTES) return `a part of it has more than ${MAX_NAME_BYTES} bytes`;
  if (foldedName(compatible).startsWith(foldedName(OURS))) {
    return `names that begin with ${OURS} are kept for temporary files`;
  }
  return undefined;
}

function badName(name: string, fault: string, cause?: unknown): UploadError {
  const options = cause === undefined ? undefined : { cause };
  return new UploadError("BAD_NAME", `${quoted(name)} is no name for a file: ${fault}`, options);
}
