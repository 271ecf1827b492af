import type { ClientCore } from "../client_core.ts";
import { isLocal, LocalCall } from "../local/local_call.ts";
import { isRequest, readRequest } from "../request/fetch_request.ts";
import type { HttpRequestInit } from "../request/http_request_init.ts";
import { localTargetOf, targetOf } from "../request/request_target.ts";
import { Call } from "./call.ts";
import type { Caller, CallOwner } from "./caller.ts";

/**
 * Sends a request, or answers it from the URL itself.
 *
 * @throws {HttpError} if it cannot be sent, or the client itself is to send it and is closed.
 */
export function send(
  core: ClientCore,
  input: string | URL | Request,
  init: HttpRequestInit | undefined,
  caller: Caller,
  owner: CallOwner,
): void {
  const url = isRequest(input) ? input.url : String(input);
  const local = isLocal(url);
  const request = readRequest(input, init, core.options, local ? localTargetOf(url) : targetOf(url));
  try {
    if (core.closed && owner === core) throw core.closedError(request.origin);
    if (local) return new LocalCall(core, request, caller, owner).start();
    core.requests++;
    new Call(core, request, caller, owner).start();
  } catch (error) {
    // The body is ours by now, and nobody else tells its source.
    if (request.body?.replayable === false) request.body.open().cancel(error);
    throw error;
  }
}
