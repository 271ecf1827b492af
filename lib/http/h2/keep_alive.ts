import { afterPoll } from "../../runtime/mod.ts";
import { Timer } from "../../timers/mod.ts";
import type { Http2Options } from "./http2_stream.ts";
import { DEFAULT_WINDOW } from "./protocol.ts";

/** The pause in ms before a PING after bodies, since more may follow; and the minimum time between two PINGs, since servers take many for a flood. */
const QUIET = 100;
const BETWEEN_PROOFS = 1000;

export interface LivenessEvents {
  /** The bytes of bodies for which the server has not returned room. */
  readonly unconsumed: number;
  /** The number of open requests. */
  readonly active: number;
  /** Sends a PING. @returns its offset in all bytes ever sent. */
  onPingDue(value: number): number;
  onStale(): void;
  /** Called when the session has been idle for `idleTimeout`. */
  close(): void;
  /** Called when it is time to call {@link KeepAlive.prove}, if that is still needed. */
  onProofDue(): void;
  /** The server has shown that it read all bytes sent before {@link KeepAlive.prove}, or has read none in time. */
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
  /** The offset of the last PING, and the one up to which the server has shown that it read, in all bytes ever sent. */
  #pingOffset = 0;
  #readOffset = 0;
  /** The time in ms for the answer to the last PING. */
  patience = 0;
  /** The number of the PING whose acknowledgement is a proof; 0 for none. */
  #proof = 0;
  #provedAt = -Infinity;
  // The two timers that keep the process alive.
  readonly #planned: Timer = new Timer(() => this.#events.onProofDue());
  readonly #proofTimer: Timer = new Timer(() => this.#endProof(false), { afterPoll });
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
    if (this.#proof !== 0) this.#proofTimer.start(this.#measure());
  }

  /** The response to a request whose HEADERS have this offset shows that the server has read all bytes before. */
  onResponse(offset: number): void {
    this.#readOffset = Math.max(this.#readOffset, offset);
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
    this.#proofTimer.start(this.#send());
    this.#proof = this.#pings;
  }

  onAnswer(ping: number): void {
    if (ping === this.#pings) this.#readOffset = this.#pingOffset;
    if (this.#proof !== 0 && ping >= this.#proof) this.#endProof(true);
  }

  #endProof(hasCome: boolean): void {
    this.#proof = 0;
    this.#proofTimer.stop();
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
    this.#proofTimer.stop();
  }

  #ping(): void {
    this.#pingAt = performance.now();
    this.#send();
  }

  #send(): number {
    this.#pingOffset = this.#events.onPingDue(++this.#pings);
    return this.#measure();
  }

  /** Returns the patience: `pingTimeout` for each default window of bytes before the PING, since larger ones let a slow server read in silence. */
  #measure(): number {
    const { pingTimeout, headersTimeout } = this.#limits;
    const unread = Math.min(this.#pingOffset - this.#readOffset, this.#events.unconsumed);
    const ms = pingTimeout * Math.max(1, Math.ceil(unread / DEFAULT_WINDOW));
    return this.patience = Math.min(ms, Math.max(pingTimeout, headersTimeout || Infinity));
  }

  /** Returns the time at which the next step is due, if no frame arrives before. */
  #due(): number {
    const { pingInterval, idleTimeout } = this.#limits;
    if (this.#pingAt !== 0) return this.#pingAt + this.patience;
    if (this.#events.active === 0) return idleTimeout > 0 ? this.#idleSince + idleTimeout : Infinity;
    return pingInterval > 0 ? this.#heardAt + pingInterval : Infinity;
  }

  #watch(): void {
    if (!this.#hasStopped) this.#timer.setDue(this.#due());
  }

  #check(): void {
    if (performance.now() >= this.#due()) {
      if (this.#pingAt !== 0) return this.#events.onStale();
      if (this.#events.active === 0) return this.#events.close();
      this.#ping();
    }
    this.#watch();
  }
}
