import type { ResponseHead } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { FetchRequest } from "../request/fetch_request.ts";
import { decodedBody, strongestDigests, verifiedBody } from "../response/decoded_body.ts";
import { createResponse, type HttpResponse } from "../response/http_response.ts";
import type { ResponseBody } from "../response/response_body.ts";
import { joinedField } from "../response/response_headers.ts";

/** Something that is done at the end of the turn. */
interface Delivery {
  deliver(): void;
}

let deliveries: Delivery[] = [];

/** Calls `deliver` in a microtask, one for all of a turn: a body of one piece has come by then. */
export function deliverSoon(delivery: Delivery): void {
  deliveries.push(delivery);
  if (deliveries.length === 1) queueMicrotask(deliverAll);
}

function deliverAll(): void {
  const due = deliveries;
  deliveries = [];
  for (const delivery of due) delivery.deliver();
}

/**
 * Makes the response that the caller gets: its body decoded, limited and verified, as it is read.
 *
 * @param body Undefined where there can be none (HEAD, 204, 304).
 * @throws {HttpError} INTEGRITY_MISMATCH if the request asks for a digest, and there is no body.
 */
export function buildResponse(
  request: FetchRequest,
  head: ResponseHead,
  body: ResponseBody | undefined,
  terms: { readonly decompress: boolean; readonly redirected: boolean },
): HttpResponse {
  const { url, integrity, origin } = request;
  if (body !== undefined) {
    const codings = terms.decompress ? joinedField(head.headers, "content-encoding") : "";
    if (codings !== "") body = decodedBody(body, codings, origin);
    limit(body, request, head);
    if (integrity !== "") body = verifiedBody(body, integrity, origin);
  } else if (strongestDigests(integrity) !== undefined) {
    const message = `${url.href} has a response without a body, and integrity asks for one`;
    throw new HttpError("INTEGRITY_MISMATCH", message, { origin });
  }
  return createResponse(head, body, { url: withoutFragment(url), redirected: terms.redirected });
}

/** The caller gets no more of the body, as it is read, than was said. */
function limit(body: ResponseBody, { url, origin, limits }: FetchRequest, { headers }: ResponseHead): void {
  const most = limits.maxResponseSize;
  if (most === Infinity) return;
  const error = (): HttpError => {
    const message = `The response of ${url.href} is larger than ${most} bytes (maxResponseSize)`;
    return new HttpError("LIMIT_EXCEEDED", message, { origin });
  };
  body.limit(most, error);
  const announced = body.isDecoded ? 0 : Number(joinedField(headers, "content-length"));
  if (announced > most) body.cancel(error());
}

function withoutFragment({ href }: URL): string {
  const hash = href.indexOf("#");
  return hash < 0 ? href : href.slice(0, hash);
}
