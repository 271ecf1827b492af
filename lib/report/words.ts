import type { RunDetails } from "../precompress/internal.ts";
import type { DeltaFormat, VariantFormat } from "../precompress/mod.ts";
import { formatBytes } from "../quantities/mod.ts";
import type { FileState } from "./changes.ts";

/** Formats a saved share with a sign: `−78%`. It is rounded to neither 0% nor 100% unless exact. */
export function saving(before: number, after: number): string {
  return before === 0 ? "0%" : signed(after / before - 1);
}

/** Formats a share of growth with its sign. */
export function signed(share: number): string {
  const isNearWhole = share > -1 && share < -0.99;
  const size = Math.abs(share * 100).toFixed(isNearWhole ? 1 : 0);
  return Number(size) === 0 ? "0%" : `${share < 0 ? "−" : "+"}${size}%`;
}

/** The connection for which visits are computed: an ordinary 4G one. */
export const LINE = {
  /** The download rate in megabits a second. */
  megabits: 9,
  /** The round-trip time in ms. */
  roundTrip: 170,
} as const;

/** The number of round trips before the first request: for DNS, TCP and TLS. */
const SET_UP = 3;

/** Returns the times in ms of a connection and of each stage of simultaneous requests, without the time of servers and scripts. */
export function timesOf(stages: readonly (number | undefined)[]): number[] {
  const times = stages.filter((bytes) => bytes !== undefined).map((bytes) => {
    return LINE.roundTrip + (bytes * 8) / (LINE.megabits * 1000);
  });
  return [SET_UP * LINE.roundTrip, ...times];
}

/** The outcome for a file in two or three words. */
export const noteOf: Readonly<Record<FileState, string>> = {
  compressed: "compressed",
  unchanged: "as before",
  failed: "problem",
  unworthy: "saves too little",
  small: "too small",
  unwanted: "not selected",
  compressedByName: "compressed already",
  dense: "looks compressed",
  beside: "form of another file",
};

/** Explains to a reader why files have no variants, by their state; undefined if they have some. */
export function reasonOf(state: FileState, { settings }: RunDetails): string | undefined {
  switch (state) {
    case "small":
      return `smaller than ${formatBytes(settings.minSize)}`;
    case "compressedByName":
      return "compressed in themselves, by their extension";
    case "dense":
      return "compressed or encrypted, by their content";
    case "unworthy":
      return `no variant saves ${percent(settings.minSaving)}`;
    case "unwanted":
      return "not selected by include and exclude";
    case "beside":
      return "compressed forms that stand beside their originals";
    case "compressed":
    case "unchanged":
    case "failed":
      return undefined;
  }
}

/** Whether visitors load a file: browsers request source maps only for debugging. */
export function isLoaded({ path }: { readonly path: string }): boolean {
  return !path.endsWith(".map");
}

export function formatName(format: VariantFormat | DeltaFormat): string {
  return format.startsWith("site-") ? `${format.slice("site-".length)} (site)` : format;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

export function signedBytes(bytes: number): string {
  return bytes === 0 ? "±0 B" : `${bytes < 0 ? "−" : "+"}${formatBytes(Math.abs(bytes))}`;
}

/** Formats a count in groups of three digits. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Text that is already HTML. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | undefined | readonly (Markup | undefined)[];

/** Makes HTML of a template: inserted values are escaped, unless they are {@linkcode Markup}; undefined inserts nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(parts.reduce((text, part, i) => text + textOf(values[i - 1]) + part));
}

function textOf(value: Value): string {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "object") return value.map(textOf).join("");
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Returns the name of a file with control and direction characters spelt out, so that names cannot imitate each other. */
export function visibleName(name: string): string {
  return name.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// deno-lint-ignore no-control-regex -- these are what is looked for
const HIDDEN = /[\0-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
