import type { ClientCore } from "../client_core.ts";
import { checkInterceptors } from "../option_checks.ts";
import { checkedOption } from "../request/request_limits.ts";
import type { HttpRequestInit } from "../request/http_request_init.ts";
import { requestObject } from "../request/request_object.ts";
import type { Caller } from "./caller.ts";
import { InterceptedCall } from "./intercepted_call.ts";
import { send } from "./send.ts";

/**
 * Starts what fetch was called with.
 *
 * @throws {HttpError} if it cannot be sent, or the client is closed.
 */
export function startCall(
  core: ClientCore,
  input: string | URL | Request,
  init: HttpRequestInit | undefined,
  caller: Caller,
): void {
  const { intercept } = core.options;
  if (intercept.length > 0 || init?.intercept !== undefined) {
    const interceptors = [...intercept, ...checkedOption(() => checkInterceptors(init?.intercept))];
    const call = new InterceptedCall(core, requestObject(input, init), interceptors, caller);
    return call.start();
  }
  send(core, input, init, caller, core);
}
