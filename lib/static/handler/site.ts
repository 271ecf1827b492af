import { lstatSync } from "node:fs";
import { SHORTAGE, whileRefused } from "../../files/internal.ts";
import { endsWithin, TurnSlicer } from "../../timers/mod.ts";
import type { Answer } from "../answer/answer.ts";
import { warnOnce } from "../answer/options.ts";
import type { Settings } from "../answer/settings.ts";
import type { Variant } from "../answer/variant.ts";
import { isPassingRefusal, isShortage, LargeContents } from "../scan/file_content.ts";
import type { TreeMemory } from "../scan/memory.ts";
import type { Representation, Warn } from "../scan/representation.ts";
import { type ScanOptions, scanTree, type TreeState, treeState } from "../scan/scan_tree.ts";
import type { Tree } from "../scan/tree.ts";
import { decodeTarget } from "./served_paths.ts";
import { FolderWatch, RescanScheduler, type Served } from "./rescan.ts";
import { type HandlerRequest, respond, respondClosed, respondInChain } from "./respond.ts";
import { type FolderAnswers, Table } from "./table.ts";

const MESSAGE = "has changed, but was answered as immutable: clients that have it keep it for up to a year. " +
  "Give it another name when its content changes, or set immutable to false, or to a pattern of what never changes";

/** Advice about limits of Linux, by the code of the error. */
const WATCH_LIMITS: Readonly<Record<string, string>> = {
  EMFILE: " (raise fs.inotify.max_user_instances)",
  ENOSPC: " (raise fs.inotify.max_user_watches)",
};

/** The time in ms that requests for a replaced file wait for the scan that the first such request started. */
const SCAN_TIMEOUT = 5000;

/** Warns of each file that `former` served as immutable and whose bytes differ in `table`. */
export async function warnOfChanged(former: Table, table: Table, warn: Warn): Promise<void> {
  const turns = new TurnSlicer();
  for (let file = 0; file < table.tree.length; file++) {
    if (turns.isOver) await turns.next();
    const path = table.tree.changedPath(file, former.tree);
    if (path !== undefined && former.isImmutable(path)) warn(path, MESSAGE);
  }
}

/** Whether a file can be read into memory; also true if it cannot be opened now. */
function isReadable(memory: TreeMemory, representation: Representation): boolean {
  try {
    return memory.read(representation) !== undefined;
  } catch (error) {
    if (isPassingRefusal(error)) return true; // its first request reads it
    throw error;
  }
}

/**
 * The number of files that a handler serves, and their bytes in memory.
 *
 * @example Print the number of scanned files
 * ```ts
 * import { createStaticHandler, type StaticStats } from "@millrace/streams/static";
 *
 * const site = await createStaticHandler("dist");
 * const { files }: StaticStats = site.stats();
 * console.log(files > 0); // true
 * await site.close();
 * ```
 */
export interface StaticStats {
  /** The number of files, without the variants beside them. */
  readonly files: number;
  /** The bytes of files and variants in memory so far. */
  readonly bytesInMemory: number;
}

/** A served folder: the table for requests, and the scans that replace it. */
export class Site {
  readonly #directory: string;
  readonly #settings: Settings;
  readonly #warnOnce: Warn;
  /** The current table; undefined once it is closed. */
  #table: Table | undefined;
  /** The answers after the handler was closed, from its last table. */
  #closed: FolderAnswers | undefined;
  #scanning: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #isDeployed = false;
  /** The paths of files that differed from a scan: later scans read them even if the manifest records them. */
  readonly #doubted = new Set<string>();
  /** The large files that scans have read. */
  readonly #large = new LargeContents();
  #watch: FolderWatch | undefined;
  readonly #succession = new RescanScheduler(this.#served());
  #isClosed = false;
  /** The pending replacement of the table, for which requests for replaced files wait, with its time limit. */
  #heir: { readonly until: number; readonly comes: PromiseWithResolvers<void> } | undefined;
  readonly #sending = new Set<Promise<unknown>>();
  readonly #isHasty: boolean;
  /** Fulfils when all files of the last hasty scan are read, or another scan has replaced it. */
  whole: Promise<void> = Promise.resolve();
  /** Whether a request may be for a file that is not read yet. */
  #isPartial = false;
  /** The reads for which temporary answers wait. */
  readonly #readings = new WeakMap<Answer, Promise<unknown>>();

  private constructor(directory: string, settings: Settings, isHasty: boolean) {
    this.#directory = directory;
    this.#settings = settings;
    this.#warnOnce = warnOnce(settings.warn);
    this.#isHasty = isHasty;
  }

  /**
   * Scans `directory` and reads its small files, or reads them at their first request. `isHasty`: slow files are read
   * after this and each later scan, and requests for them wait.
   */
  static async open(directory: string, settings: Settings, isHasty = false): Promise<Site> {
    const site = new Site(directory, settings, isHasty);
    const table = await site.#scan();
    if (!table.isPartial) site.#scanning = site.#load(table);
    site.#use(table, undefined);
    return site;
  }

  /** Makes `table` the served one. */
  #use(table: Table, former: Table | undefined): void {
    this.#table = table;
    const unused = table.tree.length > 0 ? this.#settings.unused(() => table.tree.paths()) : [];
    for (const warning of unused) this.#warnOnce("", warning);
    this.#isPartial = table.isPartial;
    if (this.#isPartial) this.track(this.whole = this.#complete(table, former));
    else this.track(table.proofs.settleAll(new TurnSlicer(), () => this.#table !== table)); // in the background
  }

  /** Reads the files that a hasty scan left, and serves the complete table, unless another one has replaced it. */
  async #complete(partial: Table, former: Table | undefined): Promise<void> {
    const isOver = (): boolean => this.#table !== partial;
    try {
      await whileRefused(() => partial.readAll(isOver), { codes: SHORTAGE, deadline: Infinity });
      if (isOver()) return;
      const table = await partial.whole(this.#settings);
      await this.#load(table);
      if (former) await warnOfChanged(former, table, this.#settings.warn);
      if (!isOver()) this.#use(table, undefined);
    } catch (error) {
      this.#settings.warn("", `is served without its memory: ${(error as Error).message}`); // a user's callback threw
    }
  }

  respond(request: HandlerRequest): Answer {
    const path = this.#isPartial ? decodeTarget(request.target) : undefined;
    const reading = path === undefined ? undefined : this.#table?.readFor(path);
    if (reading) {
      const { general, busy } = this.#table!.folder;
      const standIn = general.permit(busy, request.fields).with([]);
      this.#readings.set(standIn, reading);
      return standIn;
    }
    return this.#table ? respond(this.#table, request, this.fault) : respondClosed(this.#closed!, request);
  }

  /** Returns the response to a request in a chain; undefined if the next handler must respond. */
  respondInChain(request: HandlerRequest): Answer | undefined {
    if (this.#table) return respondInChain(this.#table, request, this.fault);
    return request.method === "GET" || request.method === "HEAD" ? respondClosed(this.#closed!, request) : undefined;
  }

  get basePath(): string {
    return this.#settings.basePath;
  }

  stats(): StaticStats {
    return { files: this.#table?.tree.count() ?? 0, bytesInMemory: this.#table?.memory.size ?? 0 };
  }

  /** Notes that the file of `variant` has changed since the scan. */
  readonly fault = ({ resource, representation }: Variant): void => {
    const { path, identity } = resource.file;
    if (representation !== identity) {
      resource.drop(representation);
      const ending = representation.file.slice(identity.file.length);
      return this.#settings.warn(path + ending, "is not what was scanned: left out");
    }
    resource.hasChanged = true;
    this.#large.forget(identity.file);
    if (resource.isFormer) return;
    this.#doubted.add(path);
    if (lstatSync(identity.file, { throwIfNoEntry: false })?.isFile()) {
      this.#heir ??= { until: performance.now() + SCAN_TIMEOUT, comes: Promise.withResolvers() };
    }
    this.#settings.warn(path, "is not what was scanned: the folder is scanned anew once it is at rest");
    this.#succession.begin();
  };

  /** Waits for the next table if that may have the content that `answer` lacks; undefined if `answer` is final. */
  successorOf(answer: Answer): Promise<unknown> | undefined {
    if (answer.status !== 503) return undefined;
    const reading = this.#readings.get(answer);
    if (reading || !this.#heir) return reading;
    const left = this.#heir.until - performance.now();
    return left > 0 ? endsWithin(this.#heir.comes.promise, left) : undefined;
  }

  #endWaits(): void {
    this.#heir?.comes.resolve();
    this.#heir = undefined;
  }

  /** Makes `close()` wait for `sending`. */
  track(sending: Promise<unknown>): void {
    const done = sending.catch(() => {}).finally(() => this.#sending.delete(done));
    this.#sending.add(done);
  }

  /** Scans the folder after a deploy, and serves the result once it is complete. */
  reload(): Promise<void> {
    this.#isDeployed = true;
    return this.#rescan();
  }

  /** Scans the folder after changes in it. */
  watch(): void {
    const onChange = async (): Promise<void> => {
      this.#isDeployed = true;
      await this.#follow().catch((error) => void this.#isLasting(error));
    };
    const onError = (error: NodeJS.ErrnoException): void => {
      const wayOut = WATCH_LIMITS[error.code ?? ""] ?? "";
      this.#settings.warn("", `is not watched: ${error.message}${wayOut}; call reload() or send SIGHUP after changes`);
    };
    this.#watch = new FolderWatch(this.#directory, () => this.#table?.tree.folders ?? [], onChange, onError);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closed ??= this.#table?.folder;
    this.#table = undefined;
    this.#endWaits();
    this.#watch?.close();
    await Promise.all([this.#succession.stop(), this.#scanning, ...this.#sending]);
  }

  #rescan(): Promise<void> {
    // A call during a scan may follow a change that the scan missed: one further scan serves all such calls.
    return this.#next ??= this.#inTurn(async () => {
      this.#next = undefined;
      await this.#replaceOnce(() => true);
      this.#succession.settle();
    });
  }

  /** Runs `job` after all earlier scans. */
  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    const done = this.#scanning.then(job);
    this.#scanning = done.then(() => {}, () => {});
    return done;
  }

  /** Returns the served folder and its table for the scheduler of rescans. */
  #served(): Served {
    const look = () => treeState(this.#directory, this.#settings.dotfiles);
    return {
      look,
      lossOf: (state) => this.#lossOf(state),
      isComplete: (state) => this.#table?.tree.isWithin(state) ?? true,
      adopt: (state) => this.#adopt(async () => (await look())?.digest === state.digest),
      keep: (loss) => {
        this.#settings.warn("", `${loss}: files of before are served until it is back, or reload() is called`);
      },
    };
  }

  /** Returns the loss that keeps a state of the folder from being served, or undefined. */
  #lossOf(state: TreeState | undefined): string | undefined {
    if (state === undefined) return "it cannot be read";
    const missing = this.#table?.needs.find((path) => !state.has(path));
    if (missing !== undefined) return `${missing} is missing`;
    return state.length < (this.#table?.tree.count() ?? 0) / 2 ? "most of its files are missing" : undefined;
  }

  /** Scans the folder after a change in it; returns whether the result is served, or can never be served. */
  async #adopt(isAtRest: () => Promise<boolean>): Promise<boolean> {
    try {
      return await this.#inTurn(() => {
        const { needs } = this.#table ?? { needs: [] };
        const hasAll = ({ tree }: Table) => needs.every((path) => tree.find(path) !== undefined);
        return this.#replaceOnce(async (table) => hasAll(table) && await isAtRest());
      });
    } catch (error) {
      return this.#isLasting(error); // the next change retries it
    }
  }

  /** Warns of a failed scan. Returns whether only a change of the folder can help; otherwise schedules another scan. */
  #isLasting(error: unknown): boolean {
    this.#settings.warn("", `cannot be scanned: ${(error as Error).message}`);
    if (!isShortage(error)) return true;
    this.#succession.begin();
    return false;
  }

  /** Scans the folder at once if no served file is missing; otherwise, such as during a build, once changes have stopped. */
  async #follow(): Promise<void> {
    const state = await treeState(this.#directory, this.#settings.dotfiles);
    if (state && this.#lossOf(state) === undefined && this.#table?.tree.isWithin(state)) await this.#rescan();
    else this.#succession.begin();
  }

  /** Runs {@linkcode #replace}. If a deploy was announced and its result is not served, the next run counts as its scan. */
  async #replaceOnce(isWhole: (table: Table) => boolean | Promise<boolean>): Promise<boolean> {
    const isDeployed = this.#isDeployed;
    this.#isDeployed = false;
    let isReplaced = false;
    try {
      return isReplaced = await this.#replace(isDeployed, isWhole);
    } finally {
      if (!isReplaced && isDeployed) this.#isDeployed = true;
    }
  }

  /** Scans the folder, and serves the result if `isWhole` accepts it; returns whether it does. */
  async #replace(isDeployed: boolean, isWhole: (table: Table) => boolean | Promise<boolean>): Promise<boolean> {
    const former = this.#table;
    if (former === undefined) return false; // the handler is closed
    const table = await this.#scan(former, isDeployed);
    if (!table.isPartial) await this.#load(table);
    if (!await isWhole(table)) return false;
    if (!table.isPartial) await warnOfChanged(former, table, this.#settings.warn);
    if (this.#isClosed) return false;
    this.#use(table, former);
    this.#endWaits();
    table.retireFormers();
    this.#watch?.renew();
    return true;
  }

  async #scan(former?: Table, isDeployed = false): Promise<Table> {
    const { fallback, notFound, previous } = this.#settings;
    this.#large.prune();
    const tree = await this.#treeOf(this.#directory, { ...this.#settings, doubted: this.#doubted });
    for (const page of [fallback, notFound]) {
      const file = typeof page === "string" ? tree.find(page) : undefined;
      if (file !== undefined && tree.unread.has(file)) await tree.read(file);
    }
    const { deploy, formers } = typeof previous === "string"
      ? { deploy: 0, formers: [await this.#scanPrevious(previous)] }
      : await (previous ? former?.succession(tree, isDeployed) : undefined) ?? { deploy: 0, formers: [] };
    const table = new Table(tree, deploy, formers, this.#settings);
    await table.proofs.prepare();
    return table;
  }

  #treeOf(directory: string, settings: Settings & Pick<ScanOptions, "doubted">): Promise<Tree> {
    return scanTree(directory, settings.warn, { ...settings, large: this.#large, isHasty: this.#isHasty });
  }

  /** Scans the folder of the previous deploy, whose files are read on demand, since few are requested. */
  async #scanPrevious(directory: string): Promise<Table> {
    const settings = { ...this.#settings, memoryLimit: 0, fallback: undefined };
    const table = new Table(await this.#treeOf(directory, settings), 0, [], settings);
    table.retire();
    await table.proofs.prepare();
    return table;
  }

  /** Reads the bytes that are kept in memory, so that no request waits for them: all, unless files cannot be opened now. */
  async #load(table: Table): Promise<void> {
    const turns = new TurnSlicer();
    const { tree, memory } = table;
    for (let file = 0; file < tree.length; file++) {
      if (turns.isOver) await turns.next();
      if (this.#isClosed) return;
      for (const representation of tree.representationsOf(file, memory.keeps)) {
        const variant = isReadable(memory, representation) ? undefined : table.variantOf(file, representation);
        if (variant) this.fault(variant);
      }
    }
    table.isImmutable(""); // evaluates all names, for which the first request would otherwise wait
  }
}
