import { TreeMemory } from "./tree/memory.ts";
import type { Settings } from "./options.ts";
import type { Representation } from "./tree/representation.ts";
import { Resource } from "./resource.ts";
import { fileServedAt, otherAnswerAt, type Redirect, servedPathOf } from "./served_paths.ts";
import type { Tree } from "./tree/tree.ts";
import type { Variant } from "./variant.ts";

/**
 * What is answered for each path. It is replaced as a whole, so that no answer mixes two deploys. What a path is answered
 * with is made when it is first asked for: ready answers for 10,000 files would take 40 MB of the heap.
 */
export class Table {
  readonly tree: Tree;
  readonly memory: TreeMemory;
  readonly fallback: Resource | undefined;
  readonly notFound: Resource | undefined;
  readonly #settings: Settings;
  /** Whose immutable files are answered where the tree has none. */
  #former: Table | undefined;
  #isFormer = false;
  /** By decoded path: what was asked for and is there. */
  readonly #known = new Map<string, Resource | Redirect>();
  readonly #resources = new Map<number, Resource>();

  /**
   * The table of `tree`.
   *
   * @throws {TypeError} if the file of `fallback` is not there, or a callback of the settings gives what it should not.
   */
  constructor(tree: Tree, former: Table | undefined, settings: Settings) {
    this.tree = tree;
    this.#former = former;
    this.#settings = settings;
    const isSent = (coding: Representation["coding"]) => settings.dictionaries || !coding.startsWith("dc");
    this.memory = new TreeMemory(tree, { limit: settings.memoryLimit, isSent });
    this.fallback = settings.fallback === undefined ? undefined : this.#required("fallback", settings.fallback);
    this.notFound = this.#resourceOf(tree.find(settings.notFound));
    if (!settings.hasCallbacks) return;
    // What they give is checked now, not at the first request.
    for (let file = 0; file < tree.length; file++) this.#resourceOf(file)?.fields();
  }

  /** What is answered at `path`, which is decoded; undefined if there is nothing. */
  at(path: string): Resource | Redirect | undefined {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const found = this.#served(path) ?? this.#former?.immutableAt(path) ?? this.#other(path);
    if (found !== undefined) this.#known.set(path, found); // not what is missing: there is no end to it
    return found;
  }

  /** The file whose content never changes that is served at `path`. */
  immutableAt(path: string): Resource | undefined {
    const resource = this.#served(path);
    return resource && !resource.hasChanged && this.#settings.isImmutable(resource.file.path) ? resource : undefined;
  }

  /** A representation of the tree as it is answered. */
  variantOf(file: number, { index }: Representation): Variant | undefined {
    const resource = this.#resourceOf(file);
    if (!resource) return undefined;
    return [...resource.variants, ...resource.deltas].find(({ representation }) => representation.index === index);
  }

  /** From now on it answers only for its immutable files, and only where another table has nothing. */
  retire(): void {
    this.#isFormer = true;
    this.#former = undefined;
    for (const resource of this.#resources.values()) resource.isFormer = true;
  }

  /** Tells the table that it stands for that it is not answered from any more. */
  replaceFormer(): void {
    this.#former?.retire();
  }

  #served(path: string): Resource | undefined {
    const file = fileServedAt(path, this.#settings, this.#has);
    return file === undefined ? undefined : this.#resourceOf(this.tree.find(file));
  }

  #other(path: string): Resource | Redirect | undefined {
    const answer = otherAnswerAt(path, this.#settings, this.#has);
    return typeof answer === "string" ? this.#resourceOf(this.tree.find(answer)) : answer;
  }

  readonly #has = (file: string): boolean => this.tree.find(file) !== undefined;

  #resourceOf(number: number | undefined): Resource | undefined {
    if (number === undefined) return undefined;
    const known = this.#resources.get(number);
    if (known) return known;
    const file = this.tree.at(number);
    if (!file) return undefined;
    const resource = new Resource(file, servedPathOf(file.path, this.#settings), this.#settings, this.memory);
    resource.isFormer = this.#isFormer;
    this.#resources.set(number, resource);
    return resource;
  }

  #required(option: string, path: string): Resource {
    const resource = this.#resourceOf(this.tree.find(path));
    if (resource) return resource;
    throw new TypeError(`${option} "${path}" is not among the files of the folder: name one that is, below the folder`);
  }
}
