import { wrongType } from "../streams/internal.ts";
import type { Family } from "./format.ts";
import type { SessionParameters } from "./options.ts";

/** A BufferSource, whose name the types of Node lack. */
type Inflated = ArrayBuffer | ArrayBufferView<ArrayBuffer>;

/** The content of a codec's module: deflated base64 in the package, which servers decode. */
interface Content {
  readonly wasm: string | Uint8Array<ArrayBuffer>;
  /** Inflates by the class, which is the host's: the global one may be that of an entry, without the codec for it. */
  inflate?(bytes: Uint8Array<ArrayBuffer>, inflater?: typeof DecompressionStream): Inflated | Promise<Inflated>;
}

/** Imports a codec's module on demand, or returns the one in the bundle. */
type Source = () => Loaded | Promise<Loaded>;

/** The content of a codec's module, or a module that servers have compiled from its file. */
type Loaded = Content & { readonly module?: undefined } | { readonly module: WasmModule };

/** A `WebAssembly.Module`: the class has no members, and Node's types lack the name. */
export type WasmModule = object;

/** The name of a codec: that of its exported `.wasm` file, and of a custom section in the module. */
type Name = `${"brotli" | "gzip" | "zstd"}_${"encoder" | "decoder"}`;

/** The codecs of one direction: all of them, or those of one entry point. */
export type Codecs = Readonly<Partial<Record<Family, Codec>>>;

/** @throws {TypeError} if the codecs of an entry point lack that of the format. */
export function codecOf(codecs: Codecs, { family, format }: Pick<SessionParameters, "family" | "format">): Codec {
  const codec = codecs[family];
  if (codec !== undefined) return codec;
  throw new TypeError(`this entry has no codec for ${format}: import @millrace/streams/codecs, which has all`);
}

/** The identity of the codecs' build, by which their files and texts end: the hash of the record of its artefacts. */
export const BUILD = "ENGsJ2OSJ7CG";

/** The key of the host's class in {@linkcode shared}. */
const INFLATER = "DecompressionStream";

/**
 * The compiled or provided modules of this thread by name and build, and the property of the global DecompressionStream as
 * it was: the entries for browsers are separate copies of this module, and bundles are.
 */
const shared: Map<string, object | undefined> = /* @__PURE__ */ sharedByCopies();

function sharedByCopies(): Map<string, object | undefined> {
  const key = Symbol.for("@millrace/streams.codecs");
  const there = (globalThis as { [key: symbol]: unknown })[key];
  if (there instanceof Map) return there;
  const value = new Map([[INFLATER, Object.getOwnPropertyDescriptor(globalThis, INFLATER)]]);
  Reflect.defineProperty(globalThis, key, { value }); // fails if the global object is frozen
  return value;
}

/** A codec, loaded and compiled when it is first used. */
export class Codec {
  readonly #name: Name;
  readonly #source: Source;
  #loading: Promise<WasmModule> | undefined = undefined;

  /** Takes one import for each codec, so that bundlers and browsers load only the codecs in use. */
  constructor(name: Name, source: Source) {
    this.#name = name;
    this.#source = source;
  }

  get module(): WasmModule | undefined {
    return shared.get(`${this.#name} ${BUILD}`);
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
    const loaded = await this.#content();
    const compiled = loaded.module ?? await compiledOf(loaded).catch((error) => {
      throw explained(error, this.#name);
    });
    shared.set(`${this.#name} ${BUILD}`, compiled);
    return compiled;
  }

  async #content(): Promise<Loaded> {
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

async function compiledOf({ wasm, inflate }: Content): Promise<WasmModule> {
  const bytes = typeof wasm === "string" ? fromBase64(wasm) : wasm;
  if (inflate === undefined) return await WebAssembly.compile(bytes);
  const { value, get } = shared.get(INFLATER) as PropertyDescriptor ?? {};
  return await WebAssembly.compile(await inflate(bytes, value ?? get?.call(globalThis)));
}

function entryOf(name: string): string {
  return `@millrace/streams/codecs/${name.split("_")[0]}`;
}

/**
 * Provides a codec's compiled module, for hosts that forbid compiling at run time, such as Cloudflare Workers and pages
 * with a strict Content-Security-Policy. All calls in this thread use the module, through any subpath.
 *
 * @param module A `WebAssembly.Module`, compiled from `@millrace/streams/codecs/gzip_encoder.wasm`,
 * `gzip_decoder.wasm`, or the same files of `brotli` and `zstd`; a section in it identifies it.
 * @throws {TypeError} if it is not a module, or not one of these.
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
  const name = new TextDecoder().decode(WebAssembly.Module.customSections(module, "millrace")[0]);
  if (!name.endsWith(BUILD)) {
    throw new TypeError("provide() takes modules of this version's .wasm files: see @millrace/streams/codecs/gzip");
  }
  shared.set(name, module);
}

/** Explains an error that means that WebAssembly may not run here; returns other errors as they are. */
function explained(cause: unknown, name?: Name): unknown {
  // The bytes are those of a text, and valid: the page's policy or the host forbids compiling.
  if (!(cause instanceof WebAssembly.CompileError)) return cause;
  const elsewhere = name && `; on hosts such as Cloudflare Workers, import @millrace/streams/codecs/${name}.wasm ` +
      `and give it to provide() of ${entryOf(name)}`;
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

/** The maximum memory of an instance's sessions, unless one needs more alone; an instance itself takes 1 to 1.5 MiB, 0.4 ms. */
const BUDGET = 64 * 1024 * 1024;

/** The maximum memory of all idle instances of a module; further ones are dropped, which Node collects late. */
const KEPT_TOGETHER = 256 * 1024 * 1024;

/** The memory from which an instance takes no new sessions: overlapping sessions would keep that memory for ever. */
const FULL_MEMORY = 256 * 1024 * 1024;

/** The maximum memory for one session's pieces of input and output. */
const BUFFERS = 384 * 1024;

/** An instance of a module, shared by some of this thread's sessions. */
export class Instance {
  readonly exports: Exports;
  #module: WasmModule;
  /** The number of open sessions. */
  sessions = 0;
  /** The sum of the memory that its sessions need. */
  #promised = 0;
  /** Whether there was a session since the last {@linkcode releaseIdleInstances}. */
  wasUsed = false;

  constructor(module: WasmModule) {
    this.#module = module;
    this.exports = instantiate(module);
  }

  /** Returns a view on the `length` bytes at `address`, valid until the next call into the module. */
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
    return this.#memory < FULL_MEMORY && (this.sessions === 0 || this.#promised + need <= BUDGET);
  }

  /** Adds a session, which must call {@linkcode leave}. */
  enter(need: number): void {
    this.sessions++;
    this.#promised += need;
    this.wasUsed = true;
  }

  /** Removes a session; drops the instance if it was the last one and much memory would be idle. */
  leave(need: number): void {
    this.sessions--;
    this.#promised -= need;
    if (this.sessions > 0) return;
    // WASM memory never shrinks, so a large one is not kept for the next use.
    if (this.#memory > BUDGET || idleMemory(poolOf(this.#module)) > KEPT_TOGETHER) this.retire();
  }

  /** Excludes the instance from new sessions. */
  retire(): void {
    const pool = poolOf(this.#module);
    const index = pool.indexOf(this);
    if (index >= 0) pool.splice(index, 1);
  }

  get idleMemory(): number {
    return this.sessions === 0 ? this.#memory : 0;
  }

  get #memory(): number {
    return this.exports.memory_used() >>> 0;
  }
}

function instantiate(module: WasmModule): Exports {
  try {
    return new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  } catch (error) {
    throw explained(error); // WebKit compiles the module, but then forbids to instantiate it
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
    // Reserves all memory at once, since the other instances are full: JavaScriptCore copies the memory at each growth.
    instance.exports.reserve(Math.max(need, BUDGET));
    pool.push(instance);
  }
  return [instance, need];
}

/** Drops the instances that have been idle since the last call, and returns whether any instance is left. */
export function releaseIdleInstances(): boolean {
  const instances = [...pools.values()].flat();
  const idle = instances.filter(({ sessions, wasUsed }) => sessions === 0 && !wasUsed);
  for (const instance of instances) instance.wasUsed = instance.sessions > 0;
  for (const instance of idle) instance.retire();
  return idle.length < instances.length;
}
