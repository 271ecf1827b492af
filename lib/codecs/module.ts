import { wrongType } from "../streams/internal.ts";
import type { Family } from "./format.ts";
import type { SessionParameters } from "./options.ts";

/** The bytes of a codec's module, which servers read of its file; or in base64, as the package has it deflated. */
interface Content {
  readonly wasm: string | Uint8Array<ArrayBuffer>;
  inflate?(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
}

/** Imports a codec's module on demand, or returns the one in the bundle. */
type Source = () => Content | Promise<Content>;

/** A `WebAssembly.Module`: the class has no members, and Node's types lack the name. */
export type WasmModule = object;

/** The name of a codec: of its `.wasm` file among the package's exports, and in a custom section of the module. */
type Name = `${"brotli" | "gzip" | "zstd"}_${"encoder" | "decoder"}`;

/** The codecs of one direction: all, or those of an entry. */
export type Codecs = Readonly<Partial<Record<Family, Codec>>>;

/** @throws {TypeError} if the codecs of an entry lack the one of a format. */
export function codecOf(codecs: Codecs, { family, format }: Pick<SessionParameters, "family" | "format">): Codec {
  const codec = codecs[family];
  if (codec !== undefined) return codec;
  throw new TypeError(`this entry has no codec for ${format}: import @millrace/streams/codecs, which has all`);
}

/** The compiled or provided modules: one of each for a thread, shared by all entries. */
const modules = new Map<string, WasmModule>();

/** A codec, loaded and compiled when it is first used. */
export class Codec {
  readonly #name: Name;
  readonly #source: Source;
  #loading: Promise<WasmModule> | undefined = undefined;

  /** Takes a separate import for each codec, so that bundlers and browsers load only used ones. */
  constructor(name: Name, source: Source) {
    this.#name = name;
    this.#source = source;
  }

  get module(): WasmModule | undefined {
    return modules.get(this.#name);
  }

  async load(): Promise<WasmModule> {
    // A failure is not cached, so that a failed download can be repeated.
    return this.module ?? await (this.#loading ??= this.#compile().finally(() => this.#loading = undefined));
  }

  async #compile(): Promise<WasmModule> {
    if (typeof WebAssembly === "undefined") {
      throw new TypeError(
        "codecs cannot run: there is no WebAssembly here, which browsers lack in lockdown mode or by policy",
      );
    }
    const { wasm, inflate } = await this.#content();
    const bytes = typeof wasm === "string" ? fromBase64(wasm) : wasm;
    const compiled = await WebAssembly.compile(inflate ? await inflate(bytes) : bytes).catch((error) => {
      throw explained(error, this.#name);
    });
    modules.set(this.#name, compiled);
    return compiled;
  }

  async #content(): Promise<Content> {
    try {
      return await this.#source();
    } catch (cause) {
      const message =
        `cannot load ${this.#name}: import ${entryOf(this.#name)} by a static import where import() fails, ` +
        "as in service workers";
      throw new TypeError(message, { cause });
    }
  }
}

function entryOf(name: string): string {
  return `@millrace/streams/codecs/${name.split("_")[0]}`;
}

/**
 * Takes a codec's module that the host has compiled: for hosts that compile none when they run, such as Cloudflare Workers,
 * and pages whose Content-Security-Policy forbids it. All calls of this thread use it, those of other subpaths too.
 *
 * @param module A `WebAssembly.Module`, made of `@millrace/streams/codecs/gzip_encoder.wasm`, `gzip_decoder.wasm`, or the files of that kind for
 * `brotli` and `zstd`; which one it is, the module knows.
 * @throws {TypeError} if it is no module, or none of these.
 * @example Give a worker its codec
 * ```ts node
 * import { compress, provide } from "@millrace/streams/codecs/gzip";
 * import { readFile } from "node:fs/promises";
 *
 * // in a worker of Cloudflare: import module from "@millrace/streams/codecs/gzip_encoder.wasm";
 * const file = new URL(import.meta.resolve("@millrace/streams/codecs/gzip_encoder.wasm"));
 * const module = await WebAssembly.compile(await readFile(file));
 * provide(module);
 * console.log((await compress(new Uint8Array(1000))).length); // 28
 * ```
 */
export function provide(module: object): void {
  if (typeof WebAssembly === "undefined" || !(module instanceof WebAssembly.Module)) {
    throw wrongType("module", "a WebAssembly.Module", module);
  }
  const [section] = WebAssembly.Module.customSections(module, "millrace");
  if (section === undefined) {
    throw new TypeError("provide() takes modules of the package's own .wasm files: see @millrace/streams/codecs/gzip");
  }
  modules.set(new TextDecoder().decode(section), module);
}

/** Returns an error in plain words for an error that says that WebAssembly may not run here. */
function explained(cause: unknown, name?: Name): unknown {
  // The bytes are valid, so the page's policy or the host forbids compiling.
  if (!(cause instanceof WebAssembly.CompileError)) return cause;
  const elsewhere = name && `; a host such as Cloudflare Workers takes compiled modules only: import ` +
      `@millrace/streams/codecs/${name}.wasm and give it to provide() of ${entryOf(name)}`;
  const message = "codecs cannot run, since WebAssembly may not be compiled here: a page's Content-Security-Policy " +
    `has to allow 'wasm-unsafe-eval' in script-src${elsewhere ?? ""}`;
  return new TypeError(message, { cause });
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  // Decodes in 5 ms less for the largest module, where the engine has the function.
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The surface that every module of `wasm/` exports; see `wasm/src/lib.rs`. Addresses are unsigned 32-bit. */
export interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  memory_used(): number;
  reserve(length: number): void;
  estimate(level: number, window: number, size: number, lean: number): number;
  dictionary(length: number): number;
  /** Takes format, level, window, size, whole, checksum and lean, and returns a session; 0 after a fault. */
  open(...parameters: number[]): number;
  input(session: number, length: number): number;
  step(session: number, length: number, operation: number, limit: number): number;
  output(session: number): number;
  output_length(session: number): number;
  close(session: number): void;
  fault_kind(): number;
  fault(): number;
  fault_length(): number;
}

/** The most memory of an instance's sessions, unless one alone needs more; it takes 1 to 1.5 MiB and 0.4 ms itself. */
const BUDGET = 64 * 1024 * 1024;

/** The maximum memory of idle instances of a module; further ones are dropped, which Node collects late. */
const KEPT_TOGETHER = 256 * 1024 * 1024;

/** The memory from which on an instance takes no new sessions, since overlapping sessions would keep it for ever. */
const FULL_MEMORY = 256 * 1024 * 1024;

/** The maximum memory for a session's pieces of input and output. */
const BUFFERS = 384 * 1024;

/** An instance of a module, shared by some of this thread's sessions. */
export class Instance {
  readonly exports: Exports;
  #module: WasmModule;
  #sessions = 0;
  /** The sum of the memory that its sessions need. */
  #promised = 0;
  /** Whether there was a session since the last {@linkcode releaseIdleInstances}. */
  #wasUsed = false;

  constructor(module: WasmModule) {
    this.#module = module;
    this.exports = instantiate(module);
  }

  /** A view on the `length` bytes at `address`, valid until the next call into the module. */
  view(address: number, length: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, address >>> 0, length);
  }

  fault(): string {
    return new TextDecoder().decode(this.view(this.exports.fault(), this.exports.fault_length()));
  }

  needOf({ level, window, size, lean, whole, dictionary }: SessionParameters): number {
    const buffers = whole ? 2 * Math.max(size, 0) : BUFFERS;
    return this.exports.estimate(level, window, size, Number(lean)) + buffers + 2 * (dictionary?.length ?? 0);
  }

  /** Whether there is room for another session that needs that much memory. */
  hasRoomFor(need: number): boolean {
    return this.#memory < FULL_MEMORY && (this.#sessions === 0 || this.#promised + need <= BUDGET);
  }

  /** Adds a session, which must call {@linkcode leave}. */
  enter(need: number): void {
    this.#sessions++;
    this.#promised += need;
    this.#wasUsed = true;
  }

  /** Removes a session; drops the instance if it was the last one and much memory would be idle. */
  leave(need: number): void {
    this.#sessions--;
    this.#promised -= need;
    if (this.#sessions > 0) return;
    // WASM memory never shrinks, so a large one is not kept for the next use.
    if (this.#memory > BUDGET || idleMemory(poolOf(this.#module)) > KEPT_TOGETHER) this.retire();
  }

  /** Takes the instance out of use: later sessions get another one. */
  retire(): void {
    const pool = poolOf(this.#module);
    const index = pool.indexOf(this);
    if (index >= 0) pool.splice(index, 1);
  }

  /** The idle memory of the instance. */
  get idleMemory(): number {
    return this.#sessions === 0 ? this.#memory : 0;
  }

  /** Returns whether the instance was idle since the last call. */
  takeIdle(): boolean {
    const isIdle = this.#sessions === 0 && !this.#wasUsed;
    this.#wasUsed = this.#sessions > 0;
    return isIdle;
  }

  get #memory(): number {
    return this.exports.memory_used() >>> 0;
  }
}

function instantiate(module: WasmModule): Exports {
  try {
    return new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  } catch (error) {
    throw explained(error); // WebKit compiles it, and then forbids this
  }
}

/** This thread's instances in use or kept, by module. */
const pools = new Map<WasmModule, Instance[]>();

function poolOf(module: WasmModule): Instance[] {
  let pool = pools.get(module);
  if (!pool) pools.set(module, pool = []);
  return pool;
}

function idleMemory(pool: readonly Instance[]): number {
  return pool.reduce((total, instance) => total + instance.idleMemory, 0);
}

/** Returns an instance of `module` for a new session, and the memory that the session needs. */
export function instanceOf(module: WasmModule, parameters: SessionParameters): [Instance, number] {
  const pool = poolOf(module);
  if (pool.length === 0) pool.push(new Instance(module));
  const need = pool[0].needOf(parameters);
  let instance = pool.find((instance) => instance.hasRoomFor(need));
  if (!instance) {
    instance = new Instance(module);
    // Reserved at once, as other instances are full: JavaScriptCore copies the memory each time that it grows.
    instance.exports.reserve(Math.max(need, BUDGET));
    pool.push(instance);
  }
  return [instance, need];
}

/** Drops the instances that were idle since the last call, and returns whether one is left. */
export function releaseIdleInstances(): boolean {
  const instances = [...pools.values()].flat();
  const idle = instances.filter((instance) => instance.takeIdle());
  for (const instance of idle) instance.retire();
  return idle.length < instances.length;
}
