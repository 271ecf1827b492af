import { formatBytes } from "../../quantities/mod.ts";
import type { PageWords } from "../page_data.ts";
import { saving } from "../saving.ts";
import type { ShownFile } from "./files.ts";

/** A column of the table. */
export interface Column {
  readonly name: string;
  readonly isNumber: boolean;
  readonly text: (file: ShownFile) => string;
  /** Orders files, those to see first in front. */
  readonly compare: (a: ShownFile, b: ShownFile) => number;
}

/** The columns for the formats that there are. */
export function columnsOf({ types, formats, notes, changes }: PageWords): Column[] {
  return [
    words("File", ({ path }) => path),
    words("Type", ({ type }) => types[type]!),
    bytes("As built", ({ size }) => size),
    ...formats.map((name, i) => bytes(name, ({ sizes }) => sizes[i]!)),
    {
      name: "Saved",
      isNumber: true,
      text: ({ size, sent }) => sent < size ? saving(size, sent) : "–",
      compare: (a, b) => saved(b) - saved(a),
    },
    words("Outcome", ({ note }) => notes[note]!),
    ...changes.length > 0 ? [words("Change", ({ change }) => changes[change!]!)] : [],
  ];
}

function words(name: string, text: (file: ShownFile) => string): Column {
  return { name, isNumber: false, text, compare: (a, b) => order(text(a), text(b)) };
}

function bytes(name: string, of: (file: ShownFile) => number): Column {
  return {
    name,
    isNumber: true,
    text: (file) => of(file) > 0 || name === "As built" ? formatBytes(of(file)) : "–",
    compare: (a, b) => of(b) - of(a),
  };
}

function saved({ size, sent }: ShownFile): number {
  return size === 0 ? 0 : 1 - sent / size;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
