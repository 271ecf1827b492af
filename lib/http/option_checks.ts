import { described } from "../streams/internal.ts";
import type { HttpInterceptor } from "./http_interceptor.ts";

/** The longest delay that timers know, in ms (24.8 days). */
const LONGEST = 2 ** 31 - 1;

/** The range of each numeric option, from and to. */
export const ranges: Readonly<Record<NumberOption, readonly [number, number]>> = {
  connections: [1, Infinity],
  maxConcurrentStreams: [1, Infinity],
  pipelining: [1, 1024],
  connectTimeout: [0, LONGEST],
  timeout: [0, LONGEST],
  queueTimeout: [0, LONGEST],
  headersTimeout: [0, LONGEST],
  bodyTimeout: [0, LONGEST],
  idleTimeout: [0, LONGEST],
  pingInterval: [0, LONGEST],
  pingTimeout: [1, LONGEST],
  retries: [0, 1000],
  maxRetryAfter: [0, LONGEST],
  maxHeaderSize: [256, 2 ** 24],
  maxResponseSize: [0, Infinity],
  streamWindow: [1024, 2 ** 30],
  maxRedirects: [0, 1000],
};

/** The options that are numbers. */
export type NumberOption =
  | "connections"
  | "maxConcurrentStreams"
  | "pipelining"
  | "connectTimeout"
  | "timeout"
  | "queueTimeout"
  | "headersTimeout"
  | "bodyTimeout"
  | "idleTimeout"
  | "pingInterval"
  | "pingTimeout"
  | "retries"
  | "maxRetryAfter"
  | "maxHeaderSize"
  | "maxResponseSize"
  | "streamWindow"
  | "maxRedirects";

/**
 * Checks a timeout or another number by the range of its name.
 *
 * @throws {TypeError | RangeError} if it is none, or out of range.
 */
export function checkNumber(name: NumberOption, value: unknown): void {
  if (value === undefined) return;
  const [least, most] = ranges[name];
  if (typeof value !== "number") throw new TypeError(`${name} must be a number, not ${described(value)}`);
  const whole = Number.isInteger(value) || value === Infinity;
  if (whole && value >= least && value <= most) return;
  throw new RangeError(`${name} ${value} is out of range: use a whole number from ${least} to ${most}`);
}

/**
 * Checks the statuses that are retried.
 *
 * @returns a copy.
 * @throws {TypeError | RangeError} if they are no list of such statuses.
 */
export function checkStatuses(statuses: readonly number[] | undefined): readonly number[] | undefined {
  if (statuses === undefined) return undefined;
  if (!Array.isArray(statuses)) throw new TypeError(`retryStatuses must be an array, not ${String(statuses)}`);
  const wrong = statuses.find((status) => !Number.isInteger(status) || status < 400 || status > 999);
  if (wrong === undefined) return [...statuses];
  throw new RangeError(`retryStatuses cannot have ${String(wrong)}: use whole numbers from 400 to 999`);
}

/**
 * Checks interceptors.
 *
 * @returns a copy; empty if there are none.
 * @throws {TypeError} if they are no list of functions.
 */
export function checkInterceptors(interceptors: readonly HttpInterceptor[] | undefined): readonly HttpInterceptor[] {
  if (interceptors === undefined) return [];
  if (Array.isArray(interceptors) && interceptors.every((each) => typeof each === "function")) return [...interceptors];
  throw new TypeError("intercept must be an array of functions");
}

/**
 * Checks the type of an option.
 *
 * @throws {TypeError} if it is another one.
 */
export function checkType(name: string, value: unknown, type: "boolean" | "function" | "object"): void {
  if (value === undefined || (typeof value === type && value !== null)) return;
  throw new TypeError(`${name} must be ${type === "object" ? "an object" : `a ${type}`}, not ${described(value)}`);
}
