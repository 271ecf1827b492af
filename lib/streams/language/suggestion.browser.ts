// The words of messages in pages: short ones, without the nearest name, which would add 160 bytes.

/** Describes a value for an error's message: `"12"`, `[object Array]`, `NaN`. */
export function described(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  return Object(value) === value ? Object.prototype.toString.call(value) : String(value);
}

export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

/** Returns an unknown name with a hint: all known ones. */
export function hinted(path: string, name: string, known: readonly string[]): string {
  return `"${path + name}": use ${known}`;
}

// In pages, only types refuse misspelt members.
export { noop as refuseMisspelt } from "./promises.ts";
