import { DEFAULTS, PLAIN, type Plain } from "./tasks.ts";

/** The options of the command line, besides the folder. */
export interface Choice {
  readonly levels: Readonly<Record<Plain, number>>;
  readonly formats: readonly Plain[];
  readonly hasPrevious: boolean;
}

/** Returns the command that writes the files shown, without options that are defaults. */
export function commandLine({ levels, formats, hasPrevious }: Choice): string {
  const words = ["npx @millrace/streams precompress dist"];
  if (formats.length < PLAIN.length) words.push(`--formats ${formats.join(",")}`);
  for (const format of formats) {
    if (levels[format] !== DEFAULTS[format]) words.push(`--level-${format} ${levels[format]}`);
  }
  if (hasPrevious) words.push("--previous previous");
  return words.join(" ");
}
