import { linkToDictionary } from "../../semantics/mod.ts";
import { TurnSlicer } from "../../timers/mod.ts";
import { type Answer, valueOf } from "../answer/answer.ts";
import { type CrossOrigin, customFields, GeneralFields } from "../answer/custom_fields.ts";
import { printable, warnOnce } from "../answer/options.ts";
import { ASK_AGAIN, Resource } from "../answer/resource.ts";
import { type Settings, settingsFor, type TreeSettings } from "../answer/settings.ts";
import type { Variant } from "../answer/variant.ts";
import { readVerified } from "../scan/file_content.ts";
import { TreeMemory } from "../scan/memory.ts";
import { Proofs } from "../scan/proofs.ts";
import type { Representation, Warn } from "../scan/representation.ts";
import type { Tree } from "../scan/tree.ts";
import { fileServedAt, namesOf, otherAnswerAt, type Redirect, servedPathOf } from "./served_paths.ts";

/** The responses to paths without a file, with the fields of `headers("")`, which apply to the folder itself. */
export class FolderAnswers {
  readonly general: GeneralFields;
  readonly badRequest: Answer;
  readonly notFound: Answer;
  /** The response if a user function throws. */
  readonly failed: Answer;
  /** The response to every request once the handler is closed. */
  readonly closed: Answer;
  /** The response while files of the folder cannot be opened. */
  readonly busy: Answer;
  readonly cors: CrossOrigin | undefined;
  /** The status of redirects; undefined: 301 for folders, 308 for pages. */
  readonly redirectStatus: number | undefined;

  /** @throws {TypeError} if `headers("")` returns an invalid field. */
  constructor(settings: Settings) {
    this.cors = settings.cors;
    this.redirectStatus = settings.redirectStatus;
    this.general = new GeneralFields(customFields("", settings));
    this.badRequest = this.general.text(400, "Bad Request: the path is not well-formed");
    this.notFound = this.general.text(404, "Not Found");
    this.failed = this.general.text(500, "Internal Server Error", ["Cache-Control", "no-store"]);
    this.busy = this.general.text(503, "Files cannot be opened now: ask again", ASK_AGAIN);
    this.closed = this.general.text(503, "The server is going down", ["Cache-Control", "no-store"]);
  }
}

/** The page of a single-page application: the response for paths without a file. */
export class Fallback {
  readonly #basePath: string;
  readonly #choose: (path: string) => string | undefined;
  readonly #find: (file: string) => Resource | undefined;
  readonly #warn: Warn;
  /** The pages by path of the file. */
  readonly #pages = new Map<string, Resource>();

  /** @param find Returns the file at a path below the folder. */
  constructor(
    choose: (path: string) => string | undefined,
    find: (file: string) => Resource | undefined,
    { basePath, warn }: Settings,
  ) {
    this.#choose = choose;
    this.#find = find;
    this.#basePath = basePath;
    this.#warn = warnOnce(warn);
  }

  /** Returns the page for a decoded path without an extension; `"failed"` if the function that chooses it threw. */
  at(path: string): Resource | "failed" | undefined {
    if (path.includes(".", path.lastIndexOf("/")) || !path.startsWith(this.#basePath)) return undefined;
    const below = path.slice(this.#basePath.length);
    try {
      const file = this.#choose(below);
      return file ? this.#page(String(file).replace(/^\/+/, "")) : undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#warn("", `fallback() failed for "${printable(below)}": ${reason}`);
      return "failed";
    }
  }

  #page(file: string): Resource | undefined {
    const known = this.#pages.get(file);
    if (known) return known;
    const page = this.#find(file)?.varyingBy("Accept");
    if (page) this.#pages.set(file, page);
    else this.#warn(file, "fallback() names it, but it is not among the files of the folder");
    return page;
  }
}

/** The maximum depth at which folders are searched for a 404's page, since the paths of requests have no limit. */
const DEEPEST = 8;

/** The maximum number of retired tables; more than one exists only if files changed during a deploy. */
const MAX_FORMERS = 3;

/** The responses by path. They are replaced together, so that no page mixes two deploys, and made on request: 10,000 would take 40 MB. */
export class Table {
  readonly tree: Tree;
  readonly memory: TreeMemory;
  readonly proofs: Proofs;
  readonly fallback: Fallback | undefined;
  /** The responses for paths without a file. */
  readonly folder: FolderAnswers;
  /** The paths of required files: a tree without them replaces this one only on `reload()`. */
  readonly needs: readonly string[];
  readonly #settings: TreeSettings;
  #dictionaryLink: string | undefined;
  /** The number of the deploy, shared by all tables of one deploy. */
  readonly deploy: number;
  /** The tables whose immutable files are served if the tree lacks them, latest first. */
  #formers: readonly Table[];
  #isFormer = false;
  /** The requested resources and redirects by decoded path. */
  readonly #known = new Map<string, Resource | Redirect>();
  readonly #resources = new Map<number, Resource>();

  /** Creates the table of `tree`. `formers`: the tables whose immutable files stay served, latest first. */
  constructor(tree: Tree, deploy: number, formers: readonly Table[], settings: Settings) {
    this.tree = tree;
    this.deploy = deploy;
    this.#formers = formers;
    this.#settings = settingsFor(tree, settings, {
      siteDictionary: settings.dictionaries ? tree.siteDictionary : undefined,
      dictionaryLink: () => this.#dictionaryLink ??= this.#makeDictionaryLink(),
    });
    const isSent = (coding: Representation["coding"]) => settings.dictionaries || !coding.startsWith("dc");
    // Sizes are unknown until all files are read: memory is planned then.
    this.memory = new TreeMemory(tree, tree.unread.size > 0 ? 0 : settings.memoryLimit, isSent);
    this.proofs = new Proofs(tree, { warn: settings.warn, contentOf: (sha256) => this.#contentOf(sha256) });
    const { index, fallback, notFound } = settings;
    const fallbackFile = typeof fallback === "string" ? fallback : undefined;
    if (fallbackFile !== undefined && !this.#has(fallbackFile)) {
      const hint = "name one that is, below the folder";
      throw new TypeError(`fallback "${fallbackFile}" is not among the files of the folder: ${hint}`);
    }
    const choose = typeof fallback === "string" ? () => fallback : fallback;
    this.fallback = choose && new Fallback(choose, (file) => this.resourceNamed(file), settings);
    // Results of user functions are checked before the table is served, not at the first request.
    if (settings.hasCallbacks) { for (let file = 0; file < tree.length; file++) this.#resourceOf(file)?.fields(); }
    this.folder = new FolderAnswers(settings);
    this.needs = [index, fallbackFile, notFound].filter((path) => path !== undefined && this.#has(path)) as string[];
  }

  /** Whether files of this table or of its former ones are not read yet. */
  get isPartial(): boolean {
    return [this, ...this.#formers].some(({ tree }) => tree.unread.size > 0);
  }

  /** Creates the complete table once all files are read. */
  async whole(settings: Settings): Promise<Table> {
    const table = new Table(this.tree, this.deploy, this.#formers, settings);
    for (const { proofs } of [table, ...this.#formers]) await proofs.prepare();
    return table;
  }

  /** Reads the remaining files, one after the other until `isOver`. */
  async readAll(isOver: () => boolean): Promise<void> {
    for (const { tree } of [this, ...this.#formers]) {
      for (const file of tree.unread) {
        if (isOver()) return;
        await tree.read(file);
      }
    }
  }

  /** Reads those remaining files that the answer for the decoded `path` may depend on; undefined if there are none. */
  readFor(path: string): Promise<unknown> | undefined {
    const reads: Promise<unknown>[] = [];
    const isThere = (file: string): boolean => {
      const number = this.tree.find(file);
      if (number !== undefined && this.tree.unread.has(number)) reads.push(this.tree.read(number));
      return number !== undefined;
    };
    if (fileServedAt(path, this.#settings, isThere) === undefined) {
      const readings = this.#formers.map((former) => former.readFor(path));
      for (const reading of readings) if (reading) reads.push(reading);
      otherAnswerAt(path, this.#settings, isThere);
      for (const name of namesOf(path, this.#settings)) isThere(name.slice(0, name.lastIndexOf(".")));
    }
    return reads.length > 0 ? Promise.all(reads) : undefined;
  }

  /** Returns the resource or redirect at the decoded `path`, or undefined. */
  at(path: string): Resource | Redirect | undefined {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const former = this.#served(path) ?? this.#formerAt(path);
    const other = former ? undefined : otherAnswerAt(path, this.#settings, this.#has);
    const found = former ?? (typeof other === "string" ? this.resourceNamed(other) : other) ?? this.#variantAt(path);
    if (found !== undefined) this.#known.set(path, found); // missing paths are not remembered, since their number is unlimited
    return found;
  }

  resourceNamed(path: string): Resource | undefined {
    return this.#resourceOf(this.tree.find(path));
  }

  /** Returns the page of a 404 at the decoded `path`: that of the nearest folder on the path that has one. */
  notFoundAt(path: string): Resource | undefined {
    const { notFound } = this.#settings;
    const [name = ""] = namesOf(path, this.#settings);
    let page = this.resourceNamed(notFound);
    for (let end = name.indexOf("/"), deep = 0; end > 0 && deep < DEEPEST; end = name.indexOf("/", end + 1), deep++) {
      page = this.resourceNamed(name.slice(0, end + 1) + notFound) ?? page;
    }
    return page;
  }

  /** Whether the file with a path is served as immutable. */
  isImmutable(path: string): boolean {
    return this.#settings.isImmutable(path);
  }

  /**
   * Returns the number of the deploy of `tree`, whose table replaces this one, and the former tables to keep for it. A
   * table of which `tree` has all immutable files is not kept; if files are missing, a new deploy begins. Few tables
   * are kept, since each uses memory.
   */
  async succession(tree: Tree, isDeployed: boolean): Promise<{ deploy: number; formers: Table[] }> {
    const formers = await this.#isCoveredBy(tree) ? this.#formers : [this, ...this.#formers];
    const hasLost = formers.some(({ deploy }) => deploy === this.deploy);
    const deploy = this.deploy + (isDeployed && hasLost ? 1 : 0);
    return { deploy, formers: formers.filter((former) => former.deploy >= deploy - 1).slice(0, MAX_FORMERS) };
  }

  /** Whether `tree` has all immutable files of this table. */
  async #isCoveredBy(tree: Tree): Promise<boolean> {
    const turns = new TurnSlicer();
    for (const path of this.tree.paths()) {
      if (turns.isOver) await turns.next();
      if (tree.find(path) === undefined && this.isImmutable(path)) return false;
    }
    return true;
  }

  /** Returns the variant for a representation of the tree. */
  variantOf(file: number, { index }: Representation): Variant | undefined {
    const resource = this.#resourceOf(file);
    if (!resource) return undefined;
    return [...resource.variants, ...resource.deltas].find(({ representation }) => representation.index === index);
  }

  /** Retires the table: it keeps only immutable files that are missing in the other tables. */
  retire(): void {
    this.#isFormer = true;
    this.#formers = [];
    for (const resource of this.#resources.values()) resource.isFormer = true;
  }

  /** Retires the former tables, which keep only files that this table lacks. */
  retireFormers(): void {
    for (const former of this.#formers) former.retire();
  }

  #formerAt(path: string): Resource | undefined {
    for (const former of this.#formers) {
      const resource = former.#served(path);
      if (resource && !resource.hasChanged && former.isImmutable(resource.file.path)) return resource;
    }
    return undefined;
  }

  #served(path: string): Resource | undefined {
    const file = fileServedAt(path, this.#settings, this.#has);
    return file === undefined ? undefined : this.resourceNamed(file);
  }

  /** Finds a variant that is requested by its own name, such as `data.tar.gz` beside `data.tar`. */
  #variantAt(path: string): Resource | undefined {
    for (const name of namesOf(path, this.#settings)) {
      const file = this.tree.variantAt(name);
      if (file) return new Resource(file, path, this.#settings, this.memory, this.proofs);
    }
    return undefined;
  }

  /** Returns the content with a SHA-256, from this tree or a former one: the dictionary of a delta. */
  #contentOf(sha256: string): Uint8Array<ArrayBuffer> | undefined {
    for (const { tree } of [...this.#formers, this]) {
      const original = tree.originalOf(sha256);
      const bytes = original && readVerified(original);
      if (bytes) return bytes.slice(); // copied, since the next file is read into the same memory
    }
    return undefined;
  }

  /** Returns the dictionary's link; empty if its fields forbid browsers to keep it, since each page would load it again. */
  #makeDictionaryLink(): string {
    const { siteDictionary } = this.#settings;
    const resource = siteDictionary && this.resourceNamed(siteDictionary.path);
    if (!resource || valueOf(resource.fields(), "Use-As-Dictionary") === undefined) return "";
    return linkToDictionary(resource.path);
  }

  readonly #has = (file: string): boolean => this.tree.find(file) !== undefined;

  #resourceOf(number: number | undefined): Resource | undefined {
    if (number === undefined) return undefined;
    const known = this.#resources.get(number);
    if (known) return known;
    const file = this.tree.at(number);
    if (!file) return undefined;
    const path = servedPathOf(file.path, this.#settings, this.#has);
    const resource = new Resource(file, path, this.#settings, this.memory, this.proofs);
    resource.isFormer = this.#isFormer;
    this.#resources.set(number, resource);
    return resource;
  }
}
