/**
 * Searches the pages. The entries are loaded as a script once the field has the focus, so that the search works for pages
 * that are opened as files, too; without scripts the field is hidden, and a page lists all others.
 *
 * @module
 */
import MiniSearch from "minisearch";
import type { Entry } from "../search_index.ts";

interface Found {
  readonly title: string;
  readonly href: string;
  readonly part: string;
  readonly words: string;
}

const MOST = 12;
const form = document.querySelector<HTMLFormElement>("form.search")!;
/** The site's folder. */
const folder = new URL(form.dataset.root!, document.baseURI);
const field = form.querySelector("input")!;
const list = document.createElement("ul");
let index: Promise<MiniSearch> | undefined;

function loadIndex(): Promise<MiniSearch> {
  return index ??= new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = new URL("assets/search_index.js", folder).href;
    element.onload = () => resolve(indexOf((globalThis as unknown as { millraceEntries: Entry[] }).millraceEntries));
    element.onerror = reject;
    document.head.append(element);
  });
}

function indexOf(entries: readonly Entry[]): MiniSearch {
  const found = new MiniSearch({
    fields: ["title", "part", "words"],
    storeFields: ["title", "href", "part", "words"],
    searchOptions: {
      boost: { title: 4, part: 1.5 },
      prefix: true,
      fuzzy: (term) => term.length > 4 ? 0.2 : false,
      combineWith: "AND",
    },
  });
  found.addAll(entries.map(([title, href, part, words], id) => ({ id, title, href, part, words })));
  return found;
}

/** Returns the words around the first of the terms, with each of them marked. */
function excerpt(words: string, terms: readonly string[]): (string | Node)[] {
  const pattern = new RegExp(terms.map((term) => term.replace(/\W/g, "\\$&")).join("|") || "^", "gi");
  const first = words.lastIndexOf(" ", Math.max(0, words.search(pattern) - 40)) + 1;
  const piece = words.slice(first, first + 150);
  const shown = `${first > 0 ? "…" : ""}${first + 150 < words.length ? piece.replace(/\S+$/, "…") : piece}`;
  const parts: (string | Node)[] = [];
  let end = 0;
  for (const { index, 0: term } of shown.matchAll(pattern)) {
    if (term === "") continue;
    const mark = document.createElement("mark");
    mark.textContent = term;
    parts.push(shown.slice(end, index), mark);
    end = index + term.length;
  }
  return [...parts, shown.slice(end)];
}

function rowOf({ title, href, part, words }: Found, terms: readonly string[]): HTMLLIElement {
  const row = document.createElement("li");
  const link = document.createElement("a");
  link.href = new URL(href, folder).href;
  const [head, from, text] = ["b", "small", "span"].map((name) => document.createElement(name));
  head.textContent = title;
  from.textContent = part;
  text.append(...excerpt(words, terms));
  link.append(head, from, text);
  row.append(link);
  return row;
}

async function show(): Promise<void> {
  const words = field.value.trim();
  if (words === "") return hide();
  const index = await loadIndex();
  const all = index.search(words);
  const found = (all.length > 0 ? all : index.search(words, { combineWith: "OR" })).slice(0, MOST);
  if (field.value.trim() !== words) return;
  const rows = found.map((one) => rowOf(one as unknown as Found, one.terms));
  if (rows.length === 0) {
    const none = document.createElement("li");
    none.className = "none";
    none.textContent = `Nothing has “${words}”`;
    rows.push(none);
  }
  list.replaceChildren(...rows);
  list.hidden = false;
}

function hide(): void {
  list.hidden = true;
}

/** Moves the focus through the field and its results. */
function move(step: number, event: Event): void {
  const stops: HTMLElement[] = [field, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  if (at === -1 || list.hidden) return;
  event.preventDefault();
  stops[(at + step + stops.length) % stops.length].focus();
}

list.hidden = true;
list.setAttribute("aria-label", "Found");
form.append(list);
form.hidden = false;
field.addEventListener("focus", () => void loadIndex());
field.addEventListener("input", () => void show());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") move(1, event);
  if (event.key === "ArrowUp") move(-1, event);
  if (event.key === "Escape") {
    hide();
    field.focus();
  }
});
form.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget !== null && !form.contains(relatedTarget as Node)) hide();
});
document.addEventListener("click", ({ target }) => {
  if (!form.contains(target as Node)) hide();
});
document.addEventListener("keydown", (event) => {
  const isTyping = (event.target as HTMLElement).closest("input, textarea, select, [contenteditable]") !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.key !== "/") return;
  event.preventDefault();
  field.focus();
});
