import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { minifySync } from "rolldown/utils";
import { root } from "./root.ts";

/** Node prints the whole line that threw an uncaught error, in front of its message. */
const LONGEST_LINE = 200;

const NO_MAP = '{ "sources": [], "mappings": "" }';

const { name, version, files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The sources that the npm package holds. All of them would not fit in 6 MB. */
export const packedSources: ReadonlySet<string> = new Set(
  files.filter((pattern: string) => pattern.endsWith(".ts"))
    .flatMap((pattern: string) => globSync(`.${pattern.replace(/^\/?/, "/")}`, { cwd: root }))
    .map((path: string) => join(root, path)),
);

/**
 * Returns where a map at `path` says that a source is: beside it in the npm package, or in JSR's. Deno would name the
 * module with the source's line if a file were missing.
 */
function placeOfSource(source: string, path: string): string {
  if (packedSources.has(source)) return relative(dirname(path), source).replaceAll("\\", "/");
  return `https://jsr.io/${name}/${version}/${relative(root, source).replaceAll("\\", "/")}`;
}

/** A module's text with the sources of its lines, which stay correct when words are replaced. */
export class MappedText {
  text: string;
  readonly #sources: readonly string[];
  #lines: SourceMapSegment[][];

  /**
   * @param text what esbuild made.
   * @param map its source map, if it has one, as text.
   * @param folder where the map takes the text to be.
   */
  constructor(text: string, map: string | undefined, folder: string) {
    const { sources, mappings } = JSON.parse(map ?? NO_MAP) as { sources: string[]; mappings: string };
    this.text = text;
    this.#sources = sources.map((source) => {
      return source.startsWith("copy:") ? join(root, source.slice("copy:".length)) : resolve(folder, source);
    });
    this.#lines = decode(mappings);
  }

  /** Replaces the matches of a global pattern: words within a line. */
  replace(pattern: RegExp, replacement: (found: string, ...groups: string[]) => string): void {
    const lines = this.text.split("\n").map((line, i) => {
      const segments = this.#lines[i] ?? [];
      let [text, end, next] = ["", 0, 0];
      for (const match of line.matchAll(pattern)) {
        const [found, ...groups] = match;
        const { index } = match;
        const shift = text.length - end;
        text += line.slice(end, index) + replacement(found, ...groups);
        for (; next < segments.length && segments[next][0] <= index; next++) segments[next][0] += shift;
        end = index + found.length;
      }
      for (; next < segments.length; next++) segments[next][0] += text.length - end;
      return text + line.slice(end);
    });
    this.text = lines.join("\n");
  }

  /** Removes the matches of a global pattern: whole lines. */
  removeLines(pattern: RegExp): void {
    const lines = (text: string): number => text.split("\n").length - 1;
    for (const { 0: found, index } of [...this.text.matchAll(pattern)].reverse()) {
      this.#lines.splice(lines(this.text.slice(0, index)), lines(found));
      this.text = this.text.slice(0, index) + this.text.slice(index + found.length);
    }
  }

  /**
   * Shortens the text: removes spaces, most ends of lines, and shortens the names of local variables, except those of
   * functions and classes. The marks of calls that bundlers may drop are kept: minifiers would lose them, so a mark is
   * part of a name while minifiers run.
   */
  minify(): void {
    this.replace(/(?<=^ .*)\/\* @__PURE__ \*\/ (?!new [A-Z])/g, () => ""); // maybe a name that becomes another one
    this.replace(/\/\* @__PURE__ \*\/ (new )?/g, (_, isNew = "") => `${isNew}PURE$`);
    const { code, map, errors } = minifySync("module.js", this.text, {
      module: true,
      compress: false,
      mangle: { keepNames: true, toplevel: false },
      codegen: { removeWhitespace: true },
      sourcemap: true,
    });
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"));
    this.text = code;
    this.#lines = decode(map!.mappings).map((segments) =>
      segments.map(([column, , line, sourceColumn]): SourceMapSegment => {
        const origin = line === undefined ? undefined : this.#originOf(line, sourceColumn!);
        return origin === undefined ? [column] : [column, origin[1]!, origin[2]!, origin[3]!];
      })
    );
    this.replace(/\b(new )?PURE\$/g, (_, isNew = "") => `/* @__PURE__ */ ${isNew}`);
    // In other letters than ASCII's, engines would keep the text in two bytes a letter.
    this.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    this.replace(/\bimport\(`([^`$]*)`\)/g, (_, path) => `import("${path}")`); // a form that every bundler reads
    this.#breakLines();
  }

  /**
   * Breaks lines longer than {@linkcode LONGEST_LINE}, but no literals: in front of a segment, and behind a mark after
   * which the language inserts no semicolon.
   */
  #breakLines(): void {
    const pieces: string[] = [];
    const lines: SourceMapSegment[][] = [];
    for (const [i, line] of this.text.split("\n").entries()) {
      const segments = this.#lines[i] ?? [];
      const places = segments.map(([column]) => column).filter((column) => /[;{,]/.test(line[column - 1] ?? ""));
      const starts = [0];
      for (const [j, place] of places.entries()) {
        if ((places[j + 1] ?? line.length) - starts.at(-1)! > LONGEST_LINE) starts.push(place);
      }
      for (const [j, start] of starts.entries()) {
        const end = starts[j + 1] ?? Infinity;
        pieces.push(line.slice(start, end));
        const within = segments.filter(([column]) => column >= start && column < end);
        lines.push(within.map(([column, ...origin]) => [column - start, ...origin] as SourceMapSegment));
      }
    }
    this.text = pieces.join("\n");
    this.#lines = lines;
  }

  #originOf(line: number, column: number): SourceMapSegment | undefined {
    const found = this.#lines[line]?.findLast(([start]) => start <= column);
    return found?.[1] === undefined ? undefined : found;
  }

  /**
   * Returns the source map of a file at `path`: without the sources' text, and with the lines of what there is, since stacks
   * show these: that is a fifth of the bytes.
   */
  mapAt(path: string): string | undefined {
    const texts = this.text.split("\n");
    const lines = this.#lines.map((segments, i) => {
      return segments.filter(([, source]) => source !== undefined).filter(isFirstOfLine).filter(([column], j, all) => {
        return !/^[\])};,\s]*$/.test(texts[i].slice(column, all[j + 1]?.[0])); // stacks name no brackets
      });
    });
    return this.#encoded(path, lines.map((segments) => segments.map(toLine)));
  }

  /** Returns the source map of declarations at `path`: the names that they declare, where editors lead to. */
  mapOfNamesAt(path: string): string | undefined {
    const texts = this.text.split("\n");
    return this.#encoded(path, this.#lines.map((segments, i) => nameIn(texts[i], segments)));
  }

  #encoded(path: string, lines: SourceMapSegment[][]): string | undefined {
    if (lines.flat().length === 0) return undefined; // it only hands on what others export
    const sources = this.#sources.map((source) => placeOfSource(source, path));
    // TypeScript's service takes no map without the file's name.
    return JSON.stringify({ version: 3, file: basename(path), sources, names: [], mappings: encode(lines) });
  }
}

/** The words before the name in a line of a declaration. */
const BEFORE_NAME =
  /^ *(?:(?:import|export|declare|abstract|class|interface|type|function|const|static|readonly|get|set|protected) )*/;

/** Returns the segments at the start and the end of the name that a line declares. */
function nameIn(text: string, segments: readonly SourceMapSegment[]): SourceMapSegment[] {
  const start = BEFORE_NAME.exec(text)![0].length;
  const end = start + /^[\w$]*/.exec(text.slice(start))![0].length;
  return segments.filter(([column]) => end > start && (column === start || column === end));
}

function isFirstOfLine([, source, line]: SourceMapSegment, i: number, segments: readonly SourceMapSegment[]): boolean {
  const before = segments[i - 1];
  return before === undefined || before[1] !== source || before[2] !== line;
}

function toLine([column, source, line]: SourceMapSegment): SourceMapSegment {
  return [column, source!, line!, 0];
}
