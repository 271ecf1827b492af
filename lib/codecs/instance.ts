import { explained } from "./module.ts";
import type { SessionParameters } from "./options.ts";

/** The surface that every module of `wasm/` exports; see `wasm/src/lib.rs`. Addresses are unsigned 32-bit. */
export interface Exports {
  readonly memory: WebAssembly.Memory;
  memory_used(): number;
  reserve(length: number): void;
  estimate(level: number, window: number, size: number, lean: number): number;
  dictionary(length: number): number;
  open(
    format: number,
    level: number,
    window: number,
    size: number,
    whole: number,
    checksum: number,
    lean: number,
  ): number;
  input(session: number, length: number): number;
  step(session: number, length: number, operation: number, limit: number): number;
  output(session: number): number;
  output_length(session: number): number;
  close(session: number): void;
  fault_kind(): number;
  fault(): number;
  fault_length(): number;
}

/**
 * The memory that the sessions of an instance need together, at most: more of them go to another one, unless a single one
 * needs more. What an instance takes by itself is 1 to 1.5 MiB, and 0.4 ms.
 */
const BUDGET = 64 * 1024 * 1024;

/**
 * The memory up to which an idle instance is kept for the next use. WASM memory never shrinks, so a larger one is
 * dropped.
 */
const KEPT_MEMORY = BUDGET;

/** The memory of all idle instances of a module that are kept; Node takes its time to collect those that are not. */
const KEPT_TOGETHER = 256 * 1024 * 1024;

/**
 * The memory from which on an instance takes no new sessions: where sessions overlap all the time, it would never be
 * idle, and none of its memory returned.
 */
const FULL_MEMORY = 256 * 1024 * 1024;

/** The memory for pieces of input and output of a session, at most. */
const BUFFERS = 384 * 1024;

/** An instance of a module, shared by some of this thread's sessions. */
export class Instance {
  readonly exports: Exports;
  #module: WebAssembly.Module;
  #sessions = 0;
  /** The memory that its sessions need together. */
  #promised = 0;
  /** Whether a session was there since {@linkcode releaseIdleInstances} looked. */
  #wasUsed = false;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.exports = instantiate(module);
  }

  /** A view on the `length` bytes at `address`, valid until the next call into the module. */
  view(address: number, length: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, address >>> 0, length);
  }

  /** The message of the fault that the last call reported. */
  fault(): string {
    return new TextDecoder().decode(this.view(this.exports.fault(), this.exports.fault_length()));
  }

  /** The memory that a session needs at most. */
  needOf({ level, window, size, lean, whole, dictionary }: SessionParameters): number {
    const buffers = whole ? 2 * Math.max(size, 0) : BUFFERS;
    return this.exports.estimate(level, window, size, Number(lean)) + buffers + 2 * (dictionary?.length ?? 0);
  }

  /** Whether another session that needs that much memory may come. */
  hasRoomFor(need: number): boolean {
    return this.#memory < FULL_MEMORY && (this.#sessions === 0 || this.#promised + need <= BUDGET);
  }

  /** Counts a session in, which must call {@linkcode leave}. */
  enter(need: number): void {
    this.#sessions++;
    this.#promised += need;
    this.#wasUsed = true;
  }

  /** Counts a session out; drops the instance if it is the last one and much memory would lie idle. */
  leave(need: number): void {
    this.#sessions--;
    this.#promised -= need;
    if (this.#sessions > 0) return;
    if (this.#memory > KEPT_MEMORY || idleMemory(poolOf(this.#module)) > KEPT_TOGETHER) this.retire();
  }

  /** Takes the instance out of use: later sessions get another one. */
  retire(): void {
    const pool = poolOf(this.#module);
    const index = pool.indexOf(this);
    if (index >= 0) pool.splice(index, 1);
  }

  /** The memory that the instance holds without need. */
  get idleMemory(): number {
    return this.#sessions === 0 ? this.#memory : 0;
  }

  /** Whether it has been idle since the last call. */
  takeIdle(): boolean {
    const isIdle = this.#sessions === 0 && !this.#wasUsed;
    this.#wasUsed = this.#sessions > 0;
    return isIdle;
  }

  get #memory(): number {
    return this.exports.memory_used() >>> 0;
  }
}

function instantiate(module: WebAssembly.Module): Exports {
  try {
    return new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  } catch (error) {
    throw explained(error); // WebKit compiles it, and then forbids this
  }
}

/** This thread's instances in use or kept, by module. */
const pools = new Map<WebAssembly.Module, Instance[]>();

function poolOf(module: WebAssembly.Module): Instance[] {
  let pool = pools.get(module);
  if (!pool) pools.set(module, pool = []);
  return pool;
}

function idleMemory(pool: readonly Instance[]): number {
  return pool.reduce((total, instance) => total + instance.idleMemory, 0);
}

/** An instance of `module` that a new session may go to, and the memory that it needs there. */
export function instanceOf(module: WebAssembly.Module, parameters: SessionParameters): [Instance, number] {
  const pool = poolOf(module);
  if (pool.length === 0) pool.push(new Instance(module));
  const need = pool[0].needOf(parameters);
  let instance = pool.find((instance) => instance.hasRoomFor(need));
  if (!instance) {
    instance = new Instance(module);
    // Others are full, so this one will be: JavaScriptCore would copy the memory each time that it grows.
    instance.exports.reserve(Math.max(need, BUDGET));
    pool.push(instance);
  }
  return [instance, need];
}

/** Drops the instances that were idle since the last call, and returns whether any is left. */
export function releaseIdleInstances(): boolean {
  const instances = [...pools.values()].flat();
  const idle = instances.filter((instance) => instance.takeIdle());
  for (const instance of idle) instance.retire();
  return idle.length < instances.length;
}
