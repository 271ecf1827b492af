import type { Duplex } from "node:stream";
import { afterPoll } from "../../runtime/mod.ts";
import { Timer } from "../../timers/mod.ts";
import { HttpError } from "../http_error.ts";
import type { ConnectOptions } from "./connect_options.ts";

type Terms = Pick<ConnectOptions, "timeout" | "signal">;

/** An attempt to connect: its deadline, its signal, and the sockets that are destroyed unless it succeeds. */
export class ConnectAttempt {
  readonly origin: string;
  /** The current step in words, for the error that says which step took too long. */
  stage = "TCP";
  /** The time for each of several addresses, in ms; undefined for the runtime's default. */
  patience: number | undefined = undefined;
  readonly #terms: Terms;
  readonly #timer: Timer = new Timer(() => this.#end(this.#timedOut()), { afterPoll });
  readonly #sockets: Duplex[] = [];
  #controller: AbortController | undefined = undefined;
  #reject: (reason: unknown) => void = () => {};
  #isOver = false;

  constructor(origin: string, terms: Terms) {
    this.origin = origin;
    this.#terms = terms;
    const { timeout, signal } = terms;
    if (timeout > 0) this.#timer.start(timeout);
    signal?.addEventListener("abort", this.#onAbort);
  }

  /** Runs the steps. @throws the error of a step, a HttpError CONNECT_TIMEOUT, or the signal's reason. */
  run<T>(steps: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      steps().then((result) => {
        this.#release();
        resolve(result);
      }, (error) => this.#end(error));
    });
  }

  /** The signal that is aborted once the attempt has failed, for steps that have no socket yet. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  own<S extends Duplex>(socket: S): S {
    socket.on("error", () => {}); // the socket's promise has settled, and a later socket is unused
    if (this.#isOver) socket.destroy();
    else this.#sockets.push(socket);
    return socket;
  }

  readonly #onAbort = (): void => this.#end(this.#terms.signal?.reason);

  #timedOut(): HttpError {
    const { origin } = this;
    const message =
      `No connection to ${origin} within ${this.#terms.timeout} ms (connectTimeout): ${this.stage} took too long`;
    return new HttpError("CONNECT_TIMEOUT", message, { origin });
  }

  #end(reason: unknown): void {
    if (this.#isOver) return;
    this.#release();
    // The outermost socket first, so that TLS has no socket left to send an alert on.
    for (const socket of this.#sockets.reverse()) socket.destroy();
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  #release(): void {
    this.#isOver = true;
    this.#timer.stop();
    this.#terms.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** Waits for one of several events of a socket. @throws the socket's error, or undefined if the socket ended without one. */
export function socketEvent(socket: Duplex, ...names: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void): void => {
      for (const name of names) socket.off(name, onEvent);
      socket.off("error", onError).off("close", onClose);
      settle();
    };
    const onEvent = (): void => done(resolve);
    const onError = (error: Error): void => done(() => reject(error));
    const onClose = (): void => done(() => reject(socket.errored ?? undefined));
    if (socket.destroyed) return reject(socket.errored ?? undefined);
    for (const name of names) socket.on(name, onEvent);
    socket.on("error", onError).on("close", onClose);
  });
}
