/** Which client of which origin. */
export interface ClientSetup {
  readonly url: string;
  /** Whether the origin speaks h2: first of all with TLS, with prior knowledge without. */
  readonly isHttp2: boolean;
  /** The certificate of the authority, in PEM. */
  readonly ca: string;
  /** The most connections; default: the client's own default. */
  readonly connections?: number;
}

/** A question to a client's process. */
export type ClientQuestion =
  /** Successive requests in `inFlight` concurrent sequences, on connections that stay open between questions. */
  | { readonly rate: { readonly inFlight: number; readonly seconds: number } }
  /** The number of requests sent at once by a new client. */
  | { readonly burst: { readonly requests: number; readonly setup: ClientSetup } }
  | { readonly transfer: { readonly direction: "down" | "up"; readonly bytes: number } };

/** The figures of a round: time, requests and CPU time. */
export interface Took {
  readonly seconds: number;
  readonly requests: number;
  /** CPU seconds of the process. */
  readonly cpu: number;
  /** Resident memory of the process in MiB: before, and the most until the end. */
  readonly memory: number;
  readonly peak: number;
}
