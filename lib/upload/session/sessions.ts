import { randomUUID } from "node:crypto";
import { endsWithin, Interval } from "../../timers/mod.ts";
import {
  HAND_OVER,
  type HoldOptions,
  type OpenSession,
  type SessionRecord,
  sessionRefusal,
  type SessionStorage,
} from "./session_storage.ts";

/** The interval in ms of sweeps for expired sessions, at most half of their time to live. */
const SWEEP = 10 * 60_000;
/** The share of sessions without data that are removed to make room for others. */
const ROOM = 0.05;

const RECOUNT = 1000;

export interface Lease {
  readonly session: OpenSession;
  /** Aborted when another request needs the session: a sender never has two active requests. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
}

/** The sessions of a handler: each belongs to one request at a time, and a newer request takes it over. */
export class Sessions {
  readonly #storage: SessionStorage;
  readonly maxAge: number;
  readonly #live = new Map<string, { readonly controller: AbortController; readonly released: Promise<void> }>();
  readonly #sweeping: Interval;
  readonly #maxOpen: number;
  /** The possible number of open sessions: those of the last count, and all created since. */
  #open = Infinity;
  #counted = -Infinity;
  #counting: Promise<void> | undefined = undefined;

  constructor(
    storage: SessionStorage,
    { maxAge, maxUnfinished }: { readonly maxAge: number; readonly maxUnfinished: number },
  ) {
    this.#storage = storage;
    this.maxAge = maxAge;
    this.#maxOpen = maxUnfinished;
    this.#sweep();
    // A weak reference, so that an unreachable handler can be collected, which ends its sweeps.
    const self = new WeakRef(this);
    const sweeping = new Interval(Math.min(SWEEP, maxAge / 2), () => {
      const sessions = self.deref();
      if (sessions === undefined) sweeping.stop();
      else sessions.#sweep();
    }, { keepsAlive: false });
    this.#sweeping = sweeping;
  }

  close(): void {
    this.#sweeping.stop();
  }

  async create(record: SessionRecord): Promise<Lease> {
    await this.#count();
    const id = randomUUID().replaceAll("-", "");
    return (await this.#lease(id, (onHandOverRequested) => this.#storage.create(id, record, onHandOverRequested)))!;
  }

  /** Acquires a session from the request that has it. @throws {Refusal} `LOCKED` if that request does not end in time. */
  async take(id: string, options: HoldOptions = {}): Promise<Lease | undefined> {
    const end = performance.now() + HAND_OVER;
    for (let live = this.#live.get(id); live !== undefined; live = this.#live.get(id)) {
      live.controller.abort(sessionRefusal("SUPERSEDED"));
      if (!await endsWithin(live.released, end - performance.now())) throw sessionRefusal("LOCKED");
    }
    const lease = await this.#lease(
      id,
      (onHandOverRequested) => this.#storage.session(id, onHandOverRequested, options),
    );
    if (lease === undefined) return undefined;
    const { session: hold } = lease;
    try {
      if (hold.record.state === "storing" || Date.now() - hold.touched < this.maxAge) {
        if (options.toRemove || hold.record.verified === undefined) return lease;
        await hold.dropDoubted();
        await hold.vouch();
        return lease;
      }
      await hold.remove().catch(() => {}); // it stays expired
    } catch (error) {
      await lease.release();
      throw error;
    }
    await lease.release();
    return undefined;
  }

  async #count(): Promise<void> {
    if (this.#open >= this.#maxOpen) {
      if (performance.now() - this.#counted > RECOUNT) this.#counting ??= this.#recount();
      await this.#counting;
    }
    if (this.#open >= this.#maxOpen) throw sessionRefusal("BUSY");
    this.#open++;
  }

  async #recount(): Promise<void> {
    try {
      this.#open = await this.#storage.countOpen();
      if (this.#open >= this.#maxOpen) {
        this.#open -= await this.#storage.removeEmpty?.(Math.ceil(this.#maxOpen * ROOM)) ?? 0;
      }
      this.#counted = performance.now();
    } finally {
      this.#counting = undefined;
    }
  }

  #sweep(): void {
    this.#storage.removeExpired(this.maxAge).catch(() => {}); // the next sweep retries; no upload depends on it
  }

  async #lease(
    id: string,
    open: (onHandOverRequested: () => void) => Promise<OpenSession | undefined>,
  ): Promise<Lease | undefined> {
    const controller = new AbortController();
    const { promise: released, resolve } = Promise.withResolvers<void>();
    this.#live.set(id, { controller, released });
    const leave = (): void => {
      this.#live.delete(id);
      resolve();
    };
    let session: OpenSession | undefined;
    try {
      session = await open(() => controller.abort(sessionRefusal("SUPERSEDED")));
    } finally {
      if (session === undefined) leave();
    }
    return session && { session, signal: controller.signal, release: () => session.release().finally(leave) };
  }
}
