import process from "node:process";
import type { TLSSocket } from "node:tls";

/** The system's socket below a TLS socket, as Node and Deno have it inside. */
interface Inside {
  readonly _handle?: { readonly _parent?: { readStart?(): void; readStop?(): void } } | null;
}

const readsOnWhilePaused: boolean = "deno" in process.versions;

/**
 * Has a TLS socket read nothing from the network, or read again, besides `pause()` and `resume()`. Deno's own goes on to receive what comes
 * while it is paused, without a limit (138 MB in 1.5 s); the others need nothing, and where the inside looks different nothing is done.
 */
export function holdTlsReads(socket: TLSSocket, held: boolean): void {
  if (!readsOnWhilePaused) return;
  const below = (socket as unknown as Inside)._handle?._parent;
  if (held) below?.readStop?.();
  else below?.readStart?.();
}
