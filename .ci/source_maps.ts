import { dirname, relative, resolve } from "node:path";

/** A place of a line, and its source: column, source, line and column there. */
type Segment = [column: number, source: number, line: number, sourceColumn: number];

/** A module's text with what its lines come from, which replacing of words keeps true. */
export class MappedText {
  text: string;
  readonly #sources: readonly string[];
  readonly #lines: Segment[][];

  /**
   * @param text what esbuild made.
   * @param map its source map, as text.
   */
  constructor(text: string, map: string) {
    const { sources, mappings } = JSON.parse(map) as { sources: string[]; mappings: string };
    this.text = text;
    this.#sources = sources;
    this.#lines = decoded(mappings);
  }

  /** Replaces what a global pattern finds: words within a line. */
  replace(pattern: RegExp, replacement: (...match: string[]) => string): void {
    this.text = this.text.split("\n").map((line, i) => {
      let shift = 0;
      return line.replace(pattern, (...match) => {
        const [found] = match as [string];
        const at = match.find((each) => typeof each === "number") as unknown as number;
        const replaced = replacement(...match as string[]);
        const change = replaced.length - found.length;
        for (const segment of this.#lines[i] ?? []) if (segment[0] - shift > at) segment[0] += change;
        shift += change;
        return replaced;
      });
    }).join("\n");
  }

  /**
   * Returns the source map for a file at `path`. It names no sources' content, and no columns within a line: stacks need
   * lines, and these take a fifth of the bytes.
   */
  mapAt(path: string, outdir: string): string {
    const sources = this.#sources.map((source) => {
      const absolute = resolve(outdir, source.replace(/^copy:/, ""));
      return relative(dirname(path), absolute).replaceAll("\\", "/");
    });
    return JSON.stringify({ version: 3, sources, names: [], mappings: encoded(this.#lines.map(byLines)) });
  }
}

/** Leaves out what begins on the same line of the source as what is before it. */
function byLines(segments: readonly Segment[]): Segment[] {
  return segments.filter(([, source, line], i) => {
    const before = segments[i - 1];
    return before === undefined || before[1] !== source || before[2] !== line;
  });
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function decoded(mappings: string): Segment[][] {
  const place = [0, 0, 0, 0];
  return mappings.split(";").map((line) => {
    place[0] = 0;
    return line.split(",").filter((text) => text !== "").flatMap((text): Segment[] => {
      const values = numbersIn(text);
      values.slice(0, 4).forEach((value, i) => place[i] += value);
      return values.length < 4 ? [] : [[...place] as Segment];
    });
  });
}

function numbersIn(text: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const letter of text) {
    const digit = DIGITS.indexOf(letter);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function encoded(lines: readonly Segment[][]): string {
  const place = [0, 0, 0, 0];
  return lines.map((segments) => {
    place[0] = 0;
    return segments.map((segment) => {
      return segment.map((value, i) => {
        const change = value - place[i];
        place[i] = value;
        return textOf(change);
      }).join("");
    }).join(",");
  }).join(";");
}

function textOf(number: number): string {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}
