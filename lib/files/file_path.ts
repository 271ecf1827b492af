import { fileURLToPath } from "node:url";

/**
 * The path that a caller names, as a string or a `file:` URL.
 *
 * @throws {TypeError} if it is neither.
 */
export function filePath(path: string | URL, what = "the path"): string {
  if (typeof path === "string" && path !== "") return path;
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  const told = typeof path === "string" ? JSON.stringify(path) : String(path);
  throw new TypeError(`${what} must be a path or a file: URL, not ${told}`);
}
