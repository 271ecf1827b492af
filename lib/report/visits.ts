import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pageReferences, type Reference, styleReferences } from "../pages/mod.ts";
import { timesOf } from "./words.ts";
import { sentSize, type SiteFile, sum } from "./changes.ts";

/** The cost of loading a page once. */
export interface Cost {
  readonly requests: number;
  /** The bytes of bodies. */
  readonly bytes: number;
  /** The time in ms, for a connection like {@linkcode LINE}. */
  readonly ms: number;
  /** The times of its consecutive parts: the connection, then each stage. */
  readonly times: readonly number[];
}

export interface Visit {
  readonly page: string;
  readonly plain: Cost;
  readonly first: Cost;
  /** The cost of a second visit without changes in between. */
  readonly again: Cost;
  /** The cost of a return visit after changes; undefined if those are unknown. */
  readonly update: Cost | undefined;
}

/** The maximum size in bytes of pages and style sheets that are read. */
const MAX_FILE_SIZE = 4 << 20;
/** The maximum depth of imports between style sheets. */
const DEEPEST = 5;

/** Computes the costs of visits to the site's first page, if there is one. */
export async function visitOf(files: readonly SiteFile[], folder: string): Promise<Visit | undefined> {
  // The start page first, then pages in higher folders.
  const rank = ({ path }: SiteFile): number => path === "index.html" ? 0 : path.split("/").length;
  const pages = files.filter(({ path }) => /\.html?$/i.test(path));
  const [page] = pages.sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
  if (page === undefined) return undefined;
  const loading = new Loading(new Map(files.map((file) => [file.path, file])), folder);
  await loading.load(page).catch(() => {}); // a page that was removed meanwhile loads no files
  const cost = (bytesOf: (file: SiteFile) => number | undefined): Cost => costOf(loading.stages, bytesOf);
  const cached = ({ isImmutable }: SiteFile): number | undefined => isImmutable ? undefined : 0;
  const changed = (file: SiteFile): number | undefined => {
    if (file.change === "same") return cached(file);
    const { dcb = Infinity, dcz = Infinity } = file.change === "new" ? {} : file.sizes;
    return Math.min(sentSize(file), dcb, dcz);
  };
  return {
    page: page.path,
    plain: cost(({ size }) => size),
    first: cost(sentSize),
    again: cost(cached),
    update: page.change === undefined ? undefined : cost(changed),
  };
}

/** Finds the files that a page loads, in stages. */
class Loading {
  readonly stages: SiteFile[][] = [];
  readonly #files: ReadonlyMap<string, SiteFile>;
  readonly #folder: string;
  readonly #seen = new Set<string>();

  constructor(files: ReadonlyMap<string, SiteFile>, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  async load(page: SiteFile): Promise<void> {
    this.#add(page, 0);
    const { base, references } = pageReferences(await this.#read(page));
    await this.#follow(references, resolved(base ?? "", urlOf(page.path)) ?? urlOf(page.path), 1);
  }

  async #follow(references: readonly Reference[], base: string, stage: number): Promise<void> {
    const sheets: SiteFile[] = [];
    for (const { url, kind, isLater } of references) {
      if (isLater || /^data:/i.test(url)) continue;
      const file = this.#fileAt(resolved(url, base));
      if (file && this.#add(file, stage) && kind === "style") sheets.push(file);
    }
    for (const sheet of stage < DEEPEST ? sheets : []) {
      await this.#follow(styleReferences(await this.#read(sheet)), urlOf(sheet.path), stage + 1);
    }
  }

  #add(file: SiteFile, stage: number): boolean {
    if (this.#seen.has(file.path)) return false;
    this.#seen.add(file.path);
    (this.stages[stage] ??= []).push(file);
    return true;
  }

  /** Returns the file of a URL. The site may be served below a path that the folder lacks. */
  #fileAt(url: string | undefined): SiteFile | undefined {
    if (url === undefined || !url.startsWith(ORIGIN)) return undefined;
    let path = pathOf(url);
    while (path !== undefined) {
      const file = this.#files.get(path) ??
        this.#files.get(`${path}${path.endsWith("/") || path === "" ? "" : "/"}index.html`);
      if (file) return file;
      const slash = path.indexOf("/");
      path = slash === -1 ? undefined : path.slice(slash + 1);
    }
    return undefined;
  }

  async #read({ path, size }: SiteFile): Promise<string> {
    return size > MAX_FILE_SIZE ? "" : await readFile(join(this.#folder, path), "utf8");
  }
}

const ORIGIN = "http://site.invalid/";

function urlOf(path: string): string {
  return ORIGIN + path.split("/").map(encodeURIComponent).join("/");
}

function resolved(url: string, base: string): string | undefined {
  return URL.parse(url, base)?.href;
}

function pathOf(url: string): string | undefined {
  try {
    return decodeURIComponent(new URL(url).pathname.slice(1));
  } catch {
    return undefined; // malformed escapes
  }
}

function costOf(stages: readonly (readonly SiteFile[])[], bytesOf: (file: SiteFile) => number | undefined): Cost {
  let [requests, bytes] = [0, 0];
  const sizes = stages.map((files) => {
    const asked = files.map(bytesOf).filter((size) => size !== undefined);
    requests += asked.length;
    const total = asked.reduce((total, size) => total + size, 0);
    bytes += total;
    return asked.length === 0 ? undefined : total;
  });
  const times = timesOf(sizes);
  return { requests, bytes, ms: sum(times), times };
}
