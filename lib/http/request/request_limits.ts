import { checkNumber, checkStatuses } from "../option_checks.ts";
import type { ResolvedOptions } from "../resolved_options.ts";
import { HttpError } from "../http_error.ts";
import type { HttpRequestInit } from "./http_request_init.ts";

/** Options of the client that a request may have its own value of. */
type NumberLimit =
  | "timeout"
  | "queueTimeout"
  | "headersTimeout"
  | "bodyTimeout"
  | "retries"
  | "maxRetryAfter"
  | "maxResponseSize";

/** The options of the client, as they are for one request. */
export type RequestLimits = Readonly<Pick<ResolvedOptions, NumberLimit | "retryStatuses" | "onInformational">>;

/**
 * Reads the limits of a request.
 *
 * @returns The client's own object where the request has no value of its own, as most have not: it costs them nothing.
 * @throws {HttpError} INVALID_OPTION if a value has the wrong type, or is out of range.
 */
export function limitsOf(init: HttpRequestInit, defaults: RequestLimits): RequestLimits {
  if (!hasLimits(init)) return defaults;
  const numberOf = (name: NumberLimit): number => checkedNumber(name, init[name]) ?? defaults[name];
  return {
    timeout: numberOf("timeout"),
    queueTimeout: numberOf("queueTimeout"),
    headersTimeout: numberOf("headersTimeout"),
    bodyTimeout: numberOf("bodyTimeout"),
    retries: numberOf("retries"),
    maxRetryAfter: numberOf("maxRetryAfter"),
    maxResponseSize: numberOf("maxResponseSize"),
    retryStatuses: checkedStatuses(init.retryStatuses) ?? defaults.retryStatuses,
    onInformational: checkedFunction("onInformational", init.onInformational) ?? defaults.onInformational,
  };
}

/** Whether a request has a value of its own, be it one that is refused. */
function hasLimits(init: HttpRequestInit): boolean {
  return init.timeout !== undefined || init.queueTimeout !== undefined || init.headersTimeout !== undefined ||
    init.bodyTimeout !== undefined || init.retries !== undefined || init.maxRetryAfter !== undefined ||
    init.maxResponseSize !== undefined || init.retryStatuses !== undefined || init.onInformational !== undefined;
}

/**
 * Checks a number that a request may have.
 *
 * @throws {HttpError} INVALID_OPTION if it is out of range.
 */
export function checkedNumber(name: NumberLimit, value: number | undefined): number | undefined {
  if (value !== undefined) checkedOption(() => checkNumber(name, value));
  return value;
}

function checkedStatuses(statuses: readonly number[] | undefined): readonly number[] | undefined {
  return statuses === undefined ? undefined : checkedOption(() => checkStatuses(statuses));
}

/**
 * Gives what the check of a client's option gives, for a request.
 *
 * @throws {HttpError} INVALID_OPTION if the check throws.
 */
export function checkedOption<T>(check: () => T): T {
  try {
    return check();
  } catch (cause) {
    throw new HttpError("INVALID_OPTION", (cause as Error).message, { cause });
  }
}

function checkedFunction<T>(name: "onInformational", value: T): T {
  if (value === undefined || typeof value === "function") return value;
  throw new HttpError("INVALID_OPTION", `${name} must be a function, not ${String(value)}`);
}
