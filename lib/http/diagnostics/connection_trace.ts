import { isIP } from "node:net";
import type { Transport } from "../transport.ts";
import { connectionChannels, isConnectionWatched } from "./channels.ts";
import { viewOf } from "./request_trace.ts";

/** The server that a connection leads to. */
interface Target {
  readonly origin: string;
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
}

/**
 * Tells subscribers of `node:diagnostics_channel` that a connection is about to be made; undefined if nobody listens.
 *
 * @param servername The option, if it was given.
 */
export function openConnectionTrace(target: Target, servername: string | undefined): ConnectionTrace | undefined {
  return isConnectionWatched() ? new ConnectionTrace(target, servername) : undefined;
}

/** The making of a connection, as subscribers are told of it. */
export class ConnectionTrace {
  readonly #connectParams: object;

  constructor({ origin, secure, host, port }: Target, servername: string | undefined) {
    this.#connectParams = {
      host: new URL(origin).host,
      hostname: host,
      protocol: secure ? "https:" : "http:",
      port: String(port),
      servername: secure ? servername ?? (isIP(host) === 0 ? host : null) : null,
    };
    connectionChannels.beforeConnect.publish({ connectParams: this.#connectParams });
  }

  /** There is one. */
  onConnected(transport: Transport): void {
    connectionChannels.connected.publish({ connectParams: this.#connectParams, socket: viewOf(transport) });
  }

  /** There will be none. */
  onError(error: unknown): void {
    connectionChannels.connectError.publish({ connectParams: this.#connectParams, error });
  }
}
