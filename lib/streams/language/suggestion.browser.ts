// The words of messages in pages: short ones, without the nearest name, which would add 160 bytes.

/** Describes a value for an error's message: `"12"`, `[object Array]`, `NaN`. */
export function described(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  return Object(value) === value ? Object.prototype.toString.call(value) : String(value);
}

export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

export function webStream(_value: unknown, kind: "Readable" | "Writable"): string {
  return `a ${kind}Stream`;
}

/** Returns an unknown name with a hint: all known ones. */
export function hinted(path: string, name: string, known: readonly string[]): string {
  return `"${path + name}": use ${known}`;
}

// These do nothing: only types refuse misspelt members, and options of functions that have none, in pages.
export { noop as refuseMisspelt, noop as refuseOptions } from "./promises.ts";
