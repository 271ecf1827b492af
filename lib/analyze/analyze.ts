import { HttpClient } from "../http/mod.ts";
import { hashedNames } from "../names/mod.ts";
import { Folder, originalsIn, walk } from "../precompress/internal.ts";
import { createStaticHandler } from "../static/mod.ts";
import { bytes, func, integer, listOf, number, schema, type SchemaOf, signal, text } from "../streams/internal.ts";
import { MAX_TIMER_DELAY, TimeLimit } from "../timers/mod.ts";
import { type Analysis, type AnalyzedFile, evaluate } from "./judge.ts";
import { type Ask, type Locate, Visitor } from "./visitor.ts";

/** Lists the paths of those files of a folder that a server would send under their own names, sorted. */
export async function folderFiles(folder: string): Promise<string[]> {
  const { files } = await walk(new Folder(folder), { dotfiles: false, followLinks: false, once: false });
  return originalsIn(files).map(({ path }) => path);
}

/** The base path for which a folder was built, by the first absolute reference to one of its files. */
export class BasePath {
  readonly #files: ReadonlySet<string>;
  #longest = 0;
  /** The base path, with a slash only at its end; undefined before the first absolute reference to a file. */
  #path: string | undefined;

  /** @param files The paths of the folder's files. */
  constructor(files: Iterable<string>) {
    this.#files = new Set(files);
    for (const { length } of this.#files) this.#longest = Math.max(this.#longest, length);
  }

  /** Returns the file of a path. `isWhole`: whether the path is absolute, as written or by `<base>`, not relative to the page. */
  fileAt(pathname: string, isWhole: boolean): string | undefined {
    const path = decoded(pathname)?.slice(1);
    if (path === undefined) return undefined;
    if (this.#files.has(path)) {
      if (isWhole) this.#path ??= "";
      return path;
    }
    if (this.#path !== undefined) {
      const below = path.startsWith(this.#path) ? path.slice(this.#path.length) : "";
      return this.#files.has(below) ? below : undefined;
    }
    if (!isWhole) return undefined;
    const first = path.indexOf("/", path.length - this.#longest - 1); // shorter rests of the path are not a file's
    for (let slash = first; slash !== -1; slash = path.indexOf("/", slash + 1)) {
      const below = path.slice(slash + 1);
      if (!this.#files.has(below)) continue;
      this.#path = path.slice(0, slash + 1);
      return below;
    }
    return undefined;
  }
}

/** Decodes an encoded path; undefined if its escapes are malformed. */
export function decoded(pathname: string): string | undefined {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
}

export interface AnalyzeOptions {
  /** Origins whose files are loaded in addition to those of the page's origin. */
  readonly origins: readonly string[];
  readonly maxFiles: number;
  /** The maximum bytes of bodies, as sent. */
  readonly maxBytes: number;
  /** The maximum time in ms for loading files, and the same time again for judging them. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Trusted certificates in PEM format, instead of the system's. */
  readonly ca?: string;
  readonly onProgress?: (step: string, done: number, known: number) => void;
}

/** The options of {@linkcode analyze}, from which the command's flags are made. */
export const analyzeOptions: SchemaOf<AnalyzeOptions, "origins" | "maxFiles" | "maxBytes" | "timeout"> =
  /* @__PURE__ */ schema("analyze()", () => ({
    origins: listOf(text(), "a list of origins", []),
    maxFiles: integer(1, Infinity, 500),
    maxBytes: bytes(100 * 1024 * 1024, 1),
    timeout: number(0, MAX_TIMER_DELAY, 60_000),
    signal: signal(),
    ca: text(),
    onProgress: func<NonNullable<AnalyzeOptions["onProgress"]>>(),
  }));

/** The origin of a folder's files. */
const HERE = "http://folder.invalid";

/** Analyzes a page and its files, or all files of a folder as this package's static handler serves them. */
export async function analyze(target: string, options: AnalyzeOptions): Promise<Analysis> {
  const isPage = /^https?:/i.test(target);
  const time = new TimeLimit(options.timeout, options.signal);
  try {
    const paths = isPage ? [] : await folderFiles(target);
    // An empty build must not pass for one without findings.
    const isEmpty = !isPage && paths.length === 0;
    if (isEmpty) throw new Error(`there are no files in ${target}: build first, or name another folder`);
    const site = isPage ? onlineSite(time.signal, options.ca) : await folderSite(target, paths);
    try {
      return await analyzeSite(site, { target, isPage, paths, time }, options);
    } finally {
      await site[Symbol.asyncDispose](); // `using` needs a helper for older runtimes, which would be a separate module
    }
  } finally {
    time.stop();
  }
}

/** A target, and the time limit for its analysis, combined with the caller's signal. */
interface Task {
  readonly target: string;
  readonly isPage: boolean;
  readonly paths: readonly string[];
  readonly time: TimeLimit;
}

async function analyzeSite(site: Site, task: Task, options: AnalyzeOptions): Promise<Analysis> {
  const { target, isPage, paths, time } = task;
  const { signal } = time;
  const onFile = (done: number, known: number): void => options.onProgress?.("loaded", done, known);
  const visitor = new Visitor(site, { ...options, signal }, isPage ? options.origins : [HERE], onFile);
  const { timeout } = options;
  const limit = `${timeout / 1000} s`;
  if (isPage) {
    await visitor.visit(new URL(target).href).catch((cause) => {
      if (!time.isOver || cause !== signal.reason) throw cause;
      throw new Error(`${target} was not answered within ${limit}`, { cause });
    });
  } else await visitor.loadAll(paths.map((path) => ({ url: urlOf(path), kind: kindOf(path) })));
  const judging = new TimeLimit(timeout, options.signal);
  const files = await judgeAll(visitor, options, judging.signal).finally(() => judging.stop());
  options.signal.throwIfAborted();
  if (files.length === 0) throw new Error(`nothing of ${target} could be looked at within ${limit}: raise --timeout`);
  const unjudged = visitor.received.length - files.length;
  const limits = [
    ...visitor.limits,
    ...time.isOver ? [`more than ${limit}`] : [],
    ...unjudged > 0 ? [`${unjudged} more that had come were not judged within ${limit}`] : [],
  ];
  const sum = (of: (file: AnalyzedFile) => number): number => files.reduce((total, file) => total + of(file), 0);
  const { elsewhere } = visitor;
  return { target, files, elsewhere, limits, sent: sum(({ sent }) => sent), best: sum(({ best }) => best) };
}

async function judgeAll(
  { received }: Visitor,
  { onProgress }: AnalyzeOptions,
  signal: AbortSignal,
): Promise<AnalyzedFile[]> {
  const pathOf = (url: string): string => new URL(url).pathname.slice(1);
  const hashIn = hashedNames(new Set(received.map(({ url }) => pathOf(url))));
  const files: AnalyzedFile[] = [];
  for (const file of received) {
    if (signal.aborted) break;
    const judged = await evaluate(file, hashIn(pathOf(file.url)) !== undefined, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
    if (judged === undefined) break;
    const path = pathOf(file.url);
    files.push(file.url.startsWith(`${HERE}/`) ? { ...judged, url: decoded(path) ?? path } : judged);
    onProgress?.("judged", files.length, received.length);
  }
  return files;
}

type Site = AsyncDisposable & { readonly ask: Ask; readonly locate: Locate };

function onlineSite(signal: AbortSignal, ca: string | undefined): Site {
  const client = new HttpClient({ decompress: false, ...(ca !== undefined && { tls: { ca } }) });
  return {
    ask: (url, headers) => client.fetch(url, { headers, signal, redirect: "manual", retries: 1 }),
    locate: ({ href }) => href,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function folderSite(folder: string, paths: readonly string[]): Promise<Site> {
  const base = new BasePath(paths);
  const handler = await createStaticHandler(folder, { watch: false, onWarning: () => {} });
  return {
    ask: async (url, headers) => await handler.fetch(new Request(url, { headers })),
    locate: (url, isWhole) => {
      const path = url.origin === HERE ? base.fileAt(url.pathname, isWhole) : undefined;
      return path === undefined ? url.href : urlOf(path) + url.search;
    },
    [Symbol.asyncDispose]: () => handler.close(),
  };
}

function urlOf(path: string): string {
  return `${HERE}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function kindOf(path: string): "page" | "script" | "style" | "other" {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  if (extension === "html" || extension === "htm") return "page";
  return extension === "css" ? "style" : extension === "js" || extension === "mjs" ? "script" : "other";
}
