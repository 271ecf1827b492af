import type { Part } from "./profile.ts";

/** A request, as the client sends it. */
export interface Ask {
  readonly method: "GET" | "POST";
  /** Bytes of the body. */
  readonly body: number;
}

/** The body of an answer, as Latin-1. */
export interface Answer {
  readonly body: string;
}

/** A question to the client: to load a server for so long. */
export interface Visits {
  readonly port: number;
  readonly program: string;
  readonly connections: number;
  readonly milliseconds: number;
}

/** The client's answer. Latencies are in milliseconds. */
export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** The first message of the client and of each server. */
export interface Listening {
  readonly port: number;
}

/** A question to a server: for its CPU time, or to begin or end a profile. */
export type ServerQuestion = "cpu" | "profile" | "parts";

/** A server's answer to "cpu" and "profile", in microseconds since the process began. */
export interface CpuTime {
  readonly cpu: number;
}

/** A server's answer to "parts": the CPU time that each took, in microseconds. */
export interface Parts {
  readonly times: Readonly<Record<Part, number>>;
  /** The functions with the largest self time, and their shares. */
  readonly functions: readonly (readonly [string, number])[];
}
