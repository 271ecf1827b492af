import { afterPoll } from "../../runtime/mod.ts";
import { Timer } from "../../timers/mod.ts";
import type { Http2Options } from "./http2_stream.ts";

/** The pause in ms before a PING after bodies, since more may follow; and the minimum time between two PINGs, since servers take many for a flood. */
const QUIET = 100;
const BETWEEN_PROOFS = 1000;

export interface LivenessEvents {
  isBusy(): boolean;
  onPingDue(value: number): void;
  onStale(): void;
  onIdle(): void;
  /** Called when it is time to call {@link KeepAlive.prove}, if that is still needed. */
  onProofDue(): void;
  /** The server has shown that it read all bytes sent before {@link KeepAlive.prove}, or has read none for `pingTimeout`. */
  onProof(hasCome: boolean): void;
}

/** The keep-alive of a session: PINGs while it is busy and the server is silent, and a timeout while it is idle. One timer serves both. */
export class KeepAlive {
  readonly #limits: Http2Options;
  readonly #events: LivenessEvents;
  #heardAt: number = performance.now();
  #idleSince: number = this.#heardAt;
  /** The time of the PING without an acknowledgement, or 0. */
  #pingAt = 0;
  #pings = 0;
  /** The number of the PING whose acknowledgement is a proof; 0 for none. */
  #proof = 0;
  #provedAt = -Infinity;
  // The two timers that keep the process alive.
  readonly #planned: Timer = new Timer(() => this.#events.onProofDue());
  readonly #patience: Timer = new Timer(() => this.#endProof(false), { afterPoll });
  #hasStopped = false;
  readonly #timer: Timer = new Timer(() => this.#check(), { keepsAlive: false, afterPoll });

  /** Starts with an idle session. */
  constructor(limits: Http2Options, events: LivenessEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#watch();
  }

  /** Notes a frame from the server, which shows that it is alive. */
  onHeard(): void {
    this.#heardAt = performance.now();
    if (this.#pingAt === 0) return;
    this.#pingAt = 0;
    this.#watch();
  }

  /** The server has read more of the bodies: its time for the proof restarts. Other frames, which may be endless, do not restart it. */
  onRead(): void {
    if (this.#proof !== 0) this.#patience.start(this.#limits.pingTimeout);
  }

  /** Handles the first request of an idle session: after a long silence, a PING checks the server. */
  onBusy(): void {
    const { pingInterval } = this.#limits;
    if (pingInterval > 0 && this.#pingAt === 0 && performance.now() - this.#heardAt >= pingInterval) this.#ping();
    this.#watch();
  }

  planProof(): void {
    this.#planned.setDue(Math.max(performance.now() + QUIET, this.#provedAt + BETWEEN_PROOFS));
  }

  /** Sends a PING after all other bytes, and keeps the process alive until its acknowledgement. */
  prove(): void {
    this.#planned.stop();
    this.#provedAt = performance.now();
    this.#proof = ++this.#pings;
    this.#patience.start(this.#limits.pingTimeout);
    this.#events.onPingDue(this.#pings);
  }

  onAnswer(ping: number): void {
    if (this.#proof !== 0 && ping >= this.#proof) this.#endProof(true);
  }

  #endProof(hasCome: boolean): void {
    this.#proof = 0;
    this.#patience.stop();
    this.#events.onProof(hasCome);
  }

  onIdle(): void {
    this.#idleSince = performance.now();
    this.#watch();
  }

  stop(): void {
    this.#hasStopped = true;
    this.#timer.stop();
    this.#planned.stop();
    this.#patience.stop();
  }

  #ping(): void {
    this.#pingAt = performance.now();
    this.#events.onPingDue(++this.#pings);
  }

  /** Returns the time at which the next step is due, if no frame arrives before. */
  #due(): number {
    const { pingInterval, pingTimeout, idleTimeout } = this.#limits;
    if (this.#pingAt !== 0) return pingTimeout > 0 ? this.#pingAt + pingTimeout : Infinity;
    if (!this.#events.isBusy()) return idleTimeout > 0 ? this.#idleSince + idleTimeout : Infinity;
    return pingInterval > 0 ? this.#heardAt + pingInterval : Infinity;
  }

  #watch(): void {
    if (!this.#hasStopped) this.#timer.setDue(this.#due());
  }

  #check(): void {
    if (performance.now() >= this.#due()) {
      if (this.#pingAt !== 0) return this.#events.onStale();
      if (!this.#events.isBusy()) return this.#events.onIdle();
      this.#ping();
    }
    this.#watch();
  }
}
