import { drawLevels, type Point, timeText } from "./plot.ts";
import { DEFAULTS, type Done, LEVELS, PLAIN, type Plain, type Task } from "./tasks.ts";

/** Sums of the files of a run at a level. */
interface Sum {
  files: number;
  size: number;
  ms: number;
}

/** The tables of levels, one for each format, with a choice of the level in each, and the plot above them. */
export class Results {
  readonly #section: HTMLElement;
  readonly #plot: SVGElement;
  readonly #onChoice: () => void;
  readonly #rows = new Map<string, HTMLTableRowElement>();
  readonly #sums = new Map<string, Sum>();
  #files = 0;
  #bytes = 0;

  constructor(section: HTMLElement, onChoice: () => void) {
    this.#section = section;
    this.#plot = section.querySelector("svg")!;
    this.#onChoice = onChoice;
    for (const format of PLAIN) this.#makeTable(format);
  }

  /** Clears all figures for files of so many bytes in all. */
  begin(files: number, bytes: number): void {
    this.#files = files;
    this.#bytes = bytes;
    this.#sums.clear();
    for (const row of this.#rows.values()) {
      row.classList.remove("best");
      for (const cell of [...row.cells].slice(1)) cell.textContent = "";
      if (row.classList.contains("own")) row.hidden = true;
    }
    this.#section.hidden = false;
  }

  /** Adds a file at a level; `sent` is the number of bytes a visitor loads. */
  add({ codec, level }: Task, { ms }: Done, sent: number): void {
    const key = level === undefined ? codec : `${codec} ${level}`;
    const sum = this.#sums.get(key) ?? { files: 0, size: 0, ms: 0 };
    this.#sums.set(key, sum);
    sum.files++;
    sum.size += sent;
    sum.ms += ms;
    if (sum.files === this.#files) this.#show(key, sum);
  }

  get levels(): Record<Plain, number> {
    const chosen = PLAIN.map((format) => {
      const input = this.#section.querySelector<HTMLInputElement>(`input[name="${format}"]:checked`);
      return [format, Number(input?.value ?? DEFAULTS[format])];
    });
    return Object.fromEntries(chosen) as Record<Plain, number>;
  }

  get formats(): Plain[] {
    return PLAIN.filter((format) => this.#section.querySelector<HTMLInputElement>(`#write-${format}`)!.checked);
  }

  #show(key: string, { size, ms }: Sum): void {
    const row = this.#rows.get(key)!;
    const [, bytes, share, time] = row.cells;
    bytes.textContent = size.toLocaleString("en");
    share.textContent = `${(size / this.#bytes * 100).toFixed(1)}%`;
    time.textContent = timeText(ms);
    row.style.setProperty("--share", String(Math.min(1, size / this.#bytes)));
    row.hidden = false;
    drawLevels(this.#plot, this.#points());
  }

  #points(): Point[] {
    const points = [...this.#sums].filter(([, { files }]) => files === this.#files).map(([key, { size, ms }]) => {
      const [, own, format, level] = /^(own )?(\w+) ?(\d*)$/.exec(key)!;
      const series = own ? `browser's ${format}` : format;
      const words = `${series}${level && ` ${level}`}: ${size.toLocaleString("en")} bytes, ${timeText(ms)}`;
      return { series, label: words, ms, share: size / this.#bytes, level: Number(level) };
    });
    return points.sort((a, b) => a.level - b.level);
  }

  #makeTable(format: Plain): void {
    const body = this.#section.querySelector(`#levels-${format}`)!;
    const [least, most] = LEVELS[format];
    for (let level = most; level >= least; level--) {
      const input = document.createElement("input");
      Object.assign(input, { type: "radio", name: format, value: String(level), checked: level === DEFAULTS[format] });
      input.ariaLabel = `${format} ${level}`;
      input.addEventListener("change", this.#onChoice);
      const label = document.createElement("label");
      label.append(input, String(level));
      this.#rows.set(`${format} ${level}`, addRow(body, label));
    }
    const own = addRow(body, "browser");
    own.className = "own";
    own.hidden = true;
    this.#rows.set(`own ${format}`, own);
    this.#section.querySelector(`#write-${format}`)!.addEventListener("change", this.#onChoice);
  }
}

function addRow(body: Element, head: Node | string): HTMLTableRowElement {
  const row = document.createElement("tr");
  const first = document.createElement("th");
  first.scope = "row";
  first.append(head);
  row.append(
    first,
    ...Array.from({ length: 3 }, () => {
      const cell = document.createElement("td");
      cell.className = "number";
      return cell;
    }),
  );
  body.append(row);
  return row;
}
