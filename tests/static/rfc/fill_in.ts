import type { Coding, KnownFile } from "./known_tree.ts";
import type { Expected, FieldLines } from "./rfc_case.ts";

/** Replaces placeholders such as `<br>` by the file's values. */
function filledIn(text: string, file: KnownFile | undefined): string {
  return text.replace(/<(opaque |#|sha256 )?(\w+)>/g, (_, what: string | undefined, name: string) => {
    if (name === "dictionary") return file!.dictionary!;
    const { tag, bytes, digest } = file!.coded.get(name as Coding)!;
    if (what === "#") return String(bytes.length);
    if (what === "opaque ") return tag.slice(1, -1);
    return what === undefined ? tag : digest;
  });
}

/** Returns a request's fields with all that filled in. */
export function filledInFields(fields: FieldLines, file: KnownFile | undefined): FieldLines {
  const lines = (value: string | readonly string[]) =>
    typeof value === "string" ? filledIn(value, file) : value.map((line) => filledIn(line, file));
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, lines(value)]));
}

/** Returns the expectations with the file's values filled in. */
export function filledInExpected(expected: Expected, file: KnownFile | undefined): Expected {
  const fields = Object.entries(expected.fields ?? {}).map(([name, value]) => {
    return [name, typeof value === "string" ? filledIn(value, file) : value];
  });
  return { ...expected, fields: Object.fromEntries(fields) };
}
