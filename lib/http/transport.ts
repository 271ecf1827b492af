/** A byte stream to a server, with or without TLS, as the connections use it. */
export interface Transport {
  /** The protocol that ALPN chose; undefined without TLS, or if the server chose none. */
  readonly alpnProtocol: string | undefined;
  /** The server's address, as the system has it; undefined if unknown. */
  readonly remoteAddress: string | undefined;
  /** The port there; undefined if unknown. */
  readonly remotePort?: number | undefined;
  /** Whether bytes that were written wait, so that whoever can should wait for onDrain. */
  readonly full: boolean;
  /** Whether all that was written is sent, or copied: its memory may be written to again. */
  readonly empty: boolean;
  /** Says who is told what happens, from now on. Called once, in the turn in which the transport was given; nothing is lost before. */
  attach(events: TransportEvents): void;
  /** Sends bytes, in order. They belong to the transport until it is `empty`: nobody writes to them before. Does nothing after end or destroy. */
  write(bytes: Uint8Array): void;
  /** No onData until resume (one that is on its way may still come). */
  pause(): void;
  resume(): void;
  /**
   * Whether what the runtime hands out in several pieces, within a turn of the event loop, is told as one, at the end of the turn at
   * the latest. Not at first.
   */
  gather(gathers: boolean): void;
  /** Sends what was written, then the end; the peer's bytes still come. */
  end(): void;
  /** Lets go of the socket at once. onClose follows, later. */
  destroy(): void;
  /** Whether this connection keeps the process alive. It does at first. */
  hold(alive: boolean): void;
  /** Whether the server's certificate, verified, is good for a host too; false without TLS, and if it was not verified. */
  covers(host: string): boolean;
}

/** The callbacks of a transport, never called within one of its own methods. */
export interface TransportEvents {
  /**
   * Bytes from the server; theirs who get them, to write to as well.
   *
   * @param isOwn Whether the chunk is all of its memory, of which nobody else knows, so that it may be transferred. Default: no.
   */
  onData(chunk: Uint8Array, isOwn?: boolean): void;
  /** `full` became false. */
  onDrain(): void;
  /** The server sends no more. */
  onEnd(): void;
  /** The socket is gone: once, and last. The error is the runtime's. */
  onClose(error: Error | undefined): void;
}
