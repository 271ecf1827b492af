import { codeOf } from "../errno.ts";

/** Resolves to what a call on a file does; to undefined if there is no such file. */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
