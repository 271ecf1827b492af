import { formatBytes } from "../../quantities/mod.ts";
import type { PageWords } from "./files.ts";
import { grouped, saving } from "../words.ts";
import { element, type ShownFile } from "./files.ts";

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Divides an area by positive weights in descending order into near squares (Bruls, Huizing, van Wijk: Squarified Treemaps). */
export function squarify(weights: readonly number[], area: Rectangle): Rectangle[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const scale = (area.width * area.height) / (total || 1);
  const made: Rectangle[] = [];
  let { x, y, width, height } = area;
  for (let start = 0; start < weights.length;) {
    const side = Math.min(width, height);
    let end = start;
    let sum = 0;
    let worst = Infinity;
    while (end < weights.length) {
      const larger = sum + weights[end]! * scale;
      const next = worstRatio(weights[start]! * scale, weights[end]! * scale, larger, side);
      if (next > worst) break;
      [sum, worst] = [larger, next];
      end++;
    }
    const depth = side === 0 ? 0 : sum / side;
    let offset = 0;
    for (; start < end; start++) {
      const length = depth === 0 ? 0 : (weights[start]! * scale) / depth;
      made.push(
        width >= height
          ? { x, y: y + offset, width: depth, height: length }
          : { x: x + offset, y, width: length, height: depth },
      );
      offset += length;
    }
    if (width >= height) [x, width] = [x + depth, Math.max(0, width - depth)];
    else [y, height] = [y + depth, Math.max(0, height - depth)];
  }
  return made;
}

function worstRatio(largest: number, smallest: number, sum: number, side: number): number {
  return Math.max((side * side * largest) / (sum * sum), (sum * sum) / (side * side * smallest));
}

/** The maximum number of files to draw: more are too small to be visible. */
const MAX_RECTANGLES = 400;
/** The height of a group's name, in pixels. */
const HEAD = 20;

/** The files of a type, and the total bytes and number of those that are too small to draw. */
interface Group {
  readonly type: number;
  readonly files: readonly ShownFile[];
  readonly rest: number;
  readonly smaller: string;
}

/** The treemap: areas of files, grouped by type. */
export class Treemap {
  readonly #place: HTMLElement;
  readonly #status: HTMLElement;
  readonly #words: PageWords;
  readonly #reveal: (file: ShownFile) => void;
  readonly #tiles: HTMLButtonElement[] = [];
  readonly #files = new Map<HTMLElement, ShownFile>();
  readonly #groups: readonly Group[];
  #current = 0;

  /** @param reveal Shows a file in the table. */
  constructor(
    place: HTMLElement,
    status: HTMLElement,
    words: PageWords,
    files: readonly ShownFile[],
    reveal: (file: ShownFile) => void,
  ) {
    [this.#place, this.#status, this.#words, this.#reveal] = [place, status, words, reveal];
    const shown = new Set(
      files.toSorted((a, b) => b.size - a.size).slice(0, MAX_RECTANGLES).filter(({ size }) => size > 0),
    );
    this.#groups = words.types.map((_, type) => {
      const all = files.filter((file) => file.type === type);
      const drawn = all.filter((file) => shown.has(file)).sort((a, b) => b.size - a.size);
      const rest = all.reduce((sum, file) => sum + (shown.has(file) ? 0 : file.size), 0);
      return { type, files: drawn, rest, smaller: `${grouped(all.length - drawn.length)} smaller` };
    });
    place.addEventListener("keydown", (event) => this.#onKey(event));
    for (const name of ["mouseover", "focusin"]) place.addEventListener(name, (event) => this.#point(event.target));
    place.addEventListener("click", (event) => {
      const file = this.#fileOf(event.target);
      if (file) this.#reveal(file);
    });
    new ResizeObserver(() => this.#draw()).observe(place);
  }

  #draw(): void {
    const { clientWidth: width, clientHeight: height } = this.#place;
    if (width === 0) return;
    const hadFocus = this.#place.contains(document.activeElement);
    this.#place.textContent = "";
    this.#tiles.length = 0;
    this.#files.clear();
    const weights = this.#groups.map(({ files, rest }) => files.reduce((sum, { size }) => sum + size, rest));
    const used = this.#groups.map((_, i) => i).filter((i) => weights[i]! > 0).sort((a, b) => weights[b]! - weights[a]!);
    const areas = squarify(used.map((i) => weights[i]!), { x: 0, y: 0, width, height });
    used.forEach((i, at) => this.#drawGroup(this.#groups[i]!, areas[at]!, weights[i]!, { width, height }));
    this.#current = Math.min(this.#current, this.#tiles.length - 1);
    const current = this.#tiles[this.#current];
    if (current) current.tabIndex = 0;
    if (hadFocus) current?.focus();
  }

  #drawGroup(
    { type, files, rest, smaller }: Group,
    area: Rectangle,
    weight: number,
    all: Pick<Rectangle, "width" | "height">,
  ): void {
    const group = element("div", `group c${type % 10}`);
    put(group, area, all);
    const hasHead = area.height > 3 * HEAD && area.width > 60;
    if (hasHead) group.append(element("span", "head", `${this.#words.types[type]} ${formatBytes(weight)}`));
    const top = hasHead ? HEAD : 0;
    // One part represents the files that are too small to draw.
    const parts = [
      ...files.map((file) => ({ file, weight: file.size })),
      ...rest > 0 ? [{ file: undefined, weight: rest }] : [],
    ];
    parts.sort((a, b) => b.weight - a.weight);
    const inner = { x: 0, y: top, width: Math.max(0, area.width - 2), height: Math.max(0, area.height - top - 2) };
    squarify(parts.map(({ weight }) => weight), inner).forEach((place, i) => {
      if (place.width >= 1 && place.height >= 1) group.append(this.#tile(parts[i]!.file ?? smaller, place, area));
    });
    this.#place.append(group);
  }

  /** @param file A file, or the text for those that are too small. */
  #tile(file: ShownFile | string, area: Rectangle, group: Rectangle): HTMLElement {
    const isRest = typeof file === "string";
    const tile = element(isRest ? "div" : "button", "tile");
    put(tile, area, group);
    const hasName = area.width > 56 && area.height > 22;
    if (hasName) tile.append(element("bdi", "", isRest ? file : nameOf(file)));
    if (isRest) return tile;
    if (hasName && area.height > 40) tile.append(" ", element("small", "", formatBytes(file.size)));
    tile.tabIndex = -1;
    tile.ariaLabel = `${nameOf(file)} ${this.#describe(file)}`;
    tile.style.setProperty("--left", `${(file.sent / file.size) * 100}%`);
    this.#tiles.push(tile as HTMLButtonElement);
    this.#files.set(tile, file);
    return tile;
  }

  #describe({ path, type, size, sent }: ShownFile): string {
    const now = sent < size ? `, sent as ${formatBytes(sent)} (${saving(size, sent)})` : "";
    return `${formatBytes(size)}${now}: ${path}, ${this.#words.types[type]}`;
  }

  #fileOf(target: EventTarget | null): ShownFile | undefined {
    const tile = (target as HTMLElement | null)?.closest<HTMLElement>("button.tile");
    return tile ? this.#files.get(tile) : undefined;
  }

  #point(target: EventTarget | null): void {
    const file = this.#fileOf(target);
    if (file) this.#status.textContent = this.#describe(file);
  }

  #onKey(event: KeyboardEvent): void {
    const target = this.#targetOf(event.key);
    if (target === undefined) return;
    event.preventDefault();
    this.#tiles[this.#current]!.tabIndex = -1;
    this.#current = target;
    this.#tiles[target]!.tabIndex = 0;
    this.#tiles[target]!.focus();
  }

  #targetOf(key: string): number | undefined {
    this.#current = Math.max(0, this.#tiles.indexOf(document.activeElement as HTMLButtonElement));
    const last = this.#tiles.length - 1;
    if (last < 0) return undefined;
    if (key === "Home") return 0;
    if (key === "End") return last;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    return step && Math.max(0, Math.min(last, this.#current + step));
  }
}

/** Places an element by fractions of the whole, so that the map also fits a printed page. */
function put(
  { style }: HTMLElement,
  { x, y, width, height }: Rectangle,
  whole: Pick<Rectangle, "width" | "height">,
): void {
  style.left = `${(x / whole.width) * 100}%`;
  style.top = `${(y / whole.height) * 100}%`;
  style.width = `${(width / whole.width) * 100}%`;
  style.height = `${(height / whole.height) * 100}%`;
}

function nameOf({ path }: ShownFile): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
