import { formatBytes } from "../../quantities/mod.ts";
import type { PageWords } from "./files.ts";
import { saving } from "../words.ts";
import { element, type ShownFile } from "./files.ts";

export interface Column {
  readonly name: string;
  readonly isNumber: boolean;
  readonly text: (file: ShownFile) => string;
  /** Compares files for the sorting order. */
  readonly compare: (a: ShownFile, b: ShownFile) => number;
}

/** Returns the columns for the formats that exist. */
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
  return { name, isNumber: false, text, compare: (a, b) => text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0 };
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

/** The height of a row in pixels, as in the style sheet. */
const ROW = 34;
/** The number of rows above and below the visible ones. */
const SPARE = 12;
const PRINTED = 300;

/** A table of which only the visible rows exist, sorted by any column. */
export class FileTable {
  readonly #columns: readonly Column[];
  readonly #frame: HTMLElement = element("div", "frame");
  readonly #table: HTMLElement = element("div", "table");
  readonly #body: HTMLElement = element("div", "body");
  readonly #heads: HTMLElement[] = [];
  readonly #rows: HTMLElement[] = [];
  #files: ShownFile[];
  #sorted: { readonly column: number; readonly isTurned: boolean } = { column: 2, isTurned: false };
  #marked: ShownFile | undefined;
  #isWaiting = false;
  #isPrinting = false;

  constructor(place: HTMLElement, columns: readonly Column[], files: readonly ShownFile[]) {
    this.#columns = columns;
    this.#files = [...files];
    this.#frame.tabIndex = 0;
    this.#frame.role = "region";
    this.#frame.ariaLabel = "Table of files";
    this.#table.role = "table";
    this.#table.ariaLabel = "Files";
    this.#table.ariaColCount = String(columns.length);
    this.#table.style.setProperty("--numbers", String(columns.filter(({ isNumber }) => isNumber).length));
    this.#table.style.setProperty(
      "--words",
      String(columns.findLastIndex(({ isNumber }) => !isNumber) - columns.findLastIndex(({ isNumber }) => isNumber)),
    );
    this.#body.role = "rowgroup";
    this.#table.append(this.#head(), this.#body);
    this.#frame.append(this.#table);
    place.replaceChildren(this.#frame);
    this.#frame.addEventListener("scroll", () => this.#later(), { passive: true });
    new ResizeObserver(() => this.#later()).observe(this.#frame);
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
    this.#sort();
  }

  show(files: readonly ShownFile[]): void {
    this.#files = [...files];
    this.#marked = undefined;
    this.#sort();
  }

  reveal(file: ShownFile): void {
    this.#marked = file;
    this.#frame.scrollTop = this.#files.indexOf(file) * ROW - this.#frame.clientHeight / 2 + ROW;
    this.#frame.focus({ preventScroll: true });
    this.#frame.scrollIntoView({ block: "nearest" });
    this.#render();
  }

  #head(): HTMLElement {
    const group = element("div", "heads");
    group.role = "rowgroup";
    const row = element("div", "row");
    row.role = "row";
    row.ariaRowIndex = "1";
    this.#columns.forEach(({ name, isNumber }, i) => {
      const head = element("div", isNumber ? "number" : "");
      head.role = "columnheader";
      const button = element("button", "", name);
      button.type = "button";
      button.addEventListener("click", () => {
        this.#sorted = { column: i, isTurned: this.#sorted.column === i && !this.#sorted.isTurned };
        this.#sort();
      });
      head.append(button);
      this.#heads.push(head);
      row.append(head);
    });
    group.append(row);
    return group;
  }

  #sort(): void {
    const { column, isTurned } = this.#sorted;
    const { compare, isNumber } = this.#columns[column]!;
    this.#files.sort((a, b) => (isTurned ? compare(b, a) : compare(a, b)) || (a.path < b.path ? -1 : 1));
    this.#heads.forEach((head, i) => {
      head.ariaSort = i !== column ? "none" : isNumber !== isTurned ? "descending" : "ascending";
    });
    this.#table.ariaRowCount = String(this.#files.length + 1);
    this.#body.style.height = `${this.#files.length * ROW}px`;
    this.#frame.scrollTop = 0;
    this.#render();
  }

  #later(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => {
      this.#isWaiting = false;
      if (!this.#isPrinting) this.#render();
    });
  }

  #render(): void {
    const first = Math.max(0, Math.floor(this.#frame.scrollTop / ROW) - SPARE);
    const count = Math.ceil(this.#frame.clientHeight / ROW) + 2 * SPARE;
    this.#renderRows(first, Math.min(this.#files.length, first + count));
  }

  #renderRows(first: number, end: number): void {
    while (this.#rows.length < end - first) this.#addRow();
    while (this.#rows.length > Math.max(0, end - first)) this.#rows.pop()!.remove();
    // A visible row keeps its element, so that little changes during scrolling.
    for (let i = first; i < end; i++) this.#fill(this.#rows[i % (end - first)]!, i);
  }

  #addRow(): void {
    const row = element("div", "row");
    row.role = "row";
    for (const { isNumber } of this.#columns) {
      const cell = element("div", isNumber ? "number" : "");
      cell.role = "cell";
      row.append(cell);
    }
    row.firstElementChild!.append(element("bdi", ""));
    this.#rows.push(row);
    this.#body.append(row);
  }

  #fill(row: HTMLElement, index: number): void {
    const file = this.#files[index]!;
    row.style.transform = `translateY(${index * ROW}px)`;
    row.ariaRowIndex = String(index + 2);
    row.classList.toggle("marked", file === this.#marked);
    this.#columns.forEach(({ text }, i) => {
      const cell = row.children[i] as HTMLElement;
      const shown = i === 0 ? cell.firstElementChild! : cell;
      const words = text(file);
      if (shown.textContent === words) return;
      shown.textContent = words;
      if (i === 0) cell.title = words;
    });
  }

  #print(isPrinting: boolean): void {
    this.#isPrinting = isPrinting;
    if (!isPrinting) return this.#sort();
    const count = Math.min(PRINTED, this.#files.length);
    this.#body.style.height = `${count * ROW}px`;
    this.#renderRows(0, count);
  }
}
