import { Results, type Row } from "./results.ts";
import { RUNTIMES, type Section } from "./tables.ts";

/** A figure of the package's README, and its source. */
interface Figure {
  /**
   * The figure's place in the text: the words before it, the figure itself, and the words after it. A space also
   * matches the end of a line.
   */
  readonly place: RegExp;
  /** The figure as it has to be; undefined if it was not measured. */
  readonly of: (results: Results) => string | undefined;
}

/** Pipes whose steps are synchronous. */
const PIPES = ["pipeTo, sync sink", "pipeTo with signal", "pipeTo, source bursts of 64"]
  .concat(["pipeThrough x1", "pipeThrough x3", "pipeThrough x8"]);
const BYTES = /^(?:byte stream|BYOB)/;

const prose: readonly Figure[] = [
  {
    place: /(\*\*)([\d.]+ to [\d.]+)( times as fast\*\* as native streams in pipes of synchronous steps)/,
    of: (results) => {
      const ratios = PIPES.flatMap((name) => results.numbers("streams", "", name, toNative));
      return ratios.length === 0 ? undefined : `${shown(Math.min(...ratios))} to ${shown(Math.max(...ratios))}`;
    },
  },
  {
    place: /(brotli 11 is )([\d.]+)( times as fast as the runtimes' native code)/,
    of: (results) => least(results.numbers("codecs", "", "brotli 11 ours", (row) => row.number("speed"))),
  },
  {
    place: /(Bun's native byte streams are up to )([\d.]+)( times as fast as ours)/,
    of: (results) => {
      const rows = results.rows("streams", "Bun", "").filter(({ name }) => BYTES.test(name));
      const ratios = rows.map(toNative).filter((ratio) => ratio !== undefined);
      return ratios.length === 0 ? undefined : shown(1 / Math.min(...ratios));
    },
  },
];

/** Rows of the README's table, by how they begin. */
const table: Readonly<Record<string, (results: Results, runtime: string) => number | undefined>> = {
  "native streams: the geometric mean": (results, runtime) => {
    const ratios = results.rows("streams", runtime, "").map(toNative).filter((ratio) => ratio !== undefined);
    return ratios.length === 0
      ? undefined
      : Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  },
  "native streams: .pipeThrough": (results, runtime) =>
    results.row("streams", runtime, "", "pipeThrough x3")?.number("to native"),
  "native brotli 11": (results, runtime) => results.row("codecs", runtime, "", "brotli 11 ours")?.number("speed"),
  "a bare server": (results, runtime) => {
    return results.row("static", runtime, "5 bundles of 50 KB", "ours")?.number("of bare");
  },
  "bare `node:http2`": (results, runtime) => {
    return results.row("http", runtime, "throughput, h2 over TLS", "node:http2")?.number("ours / it");
  },
};

const toNative = (row: Row): number | undefined => row.number("to native");

function least(numbers: readonly number[]): string | undefined {
  return numbers.length === 0 ? undefined : (Math.floor(Math.min(...numbers) * 10) / 10).toFixed(1);
}

function shown(ratio: number): string {
  return ratio.toFixed(1);
}

/** The places of all figures in the README that were measured. */
export const measured: readonly RegExp[] = [
  ...prose.map(({ place }) => anySpace(place)),
  ...Object.keys(table).map(rowOf),
];

/** Returns a place whose spaces may be ends of lines. */
function anySpace(place: RegExp): RegExp {
  return new RegExp(place.source.replaceAll(" ", "\\s+"), "g");
}

/** Returns the row that begins so: its first cell, and one for each runtime. */
function rowOf(beginning: string): RegExp {
  return new RegExp(`^(\\| ${beginning}[^|]*\\|)${"( +[\\d.]* \\|)".repeat(RUNTIMES.length)}$`, "gm");
}

/**
 * The package's README with the figures that the results have; those that were not measured stay as they are.
 *
 * @throws {Error} if a figure's place is not there: its sentence was changed, and the figure would stay as it is.
 */
export function withFigures(readme: string, sections: readonly Section[]): string {
  const results = new Results(sections);
  let text = readme;
  const replace = (place: RegExp, by: (...parts: string[]) => string): void => {
    if (text.search(place) === -1) {
      throw new Error(`README.md has no ${place.source}: correct bench/page/readme_figures.ts`);
    }
    text = text.replace(place, by);
  };
  for (const { place, of } of prose) {
    replace(anySpace(place), (_, before, former, after) => before + (of(results) ?? former) + after);
  }
  for (const [beginning, of] of Object.entries(table)) {
    replace(rowOf(beginning), (_, name, ...cells) => {
      const filled = RUNTIMES.map((runtime, i) => {
        const ratio = of(results, runtime);
        const former = cells[i]!;
        return ratio === undefined ? former : `${ratio.toFixed(ratio < 2 ? 2 : 1)} |`.padStart(former.length);
      });
      return name + filled.join("");
    });
  }
  return text;
}
