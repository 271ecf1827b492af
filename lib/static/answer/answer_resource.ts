import { type Answer, only, valueOf } from "./answer.ts";
import { evaluate, ifRangeHolds } from "./preconditions.ts";
import { answerRange } from "./ranges.ts";
import type { RequestFields } from "./request_fields.ts";
import type { Resource } from "./resource.ts";
import type { Variant } from "./variant.ts";

const ASK_AGAIN = ["Retry-After", "1", "Cache-Control", "no-store"];

/** Told that the file of a variant is not what was scanned. */
export type OnFault = (variant: Variant) => void;

/**
 * Answers a GET or HEAD request for a file.
 *
 * @returns undefined if it is of the previous deploy, and gone.
 */
export function answerResource(
  resource: Resource,
  method: string,
  request: RequestFields,
  onFault: OnFault,
): Answer | undefined {
  while (!resource.hasChanged) {
    const chosen = resource.choose(request);
    if (chosen === undefined) return notAcceptable(resource);
    const answer = answerVariant(chosen, method, request);
    if (answer) return answer;
    onFault(chosen); // one less to choose from
  }
  if (resource.isFormer) return undefined;
  return resource.general().text(503, "The file is being replaced: ask again", ASK_AGAIN);
}

/** The response about a file that cannot be opened because too many are open. */
export function answerBusy(resource: Resource, request: RequestFields): Answer {
  const general = resource.general();
  return general.permit(general.text(503, "Too many files are open: ask again", ASK_AGAIN), request);
}

function answerVariant(chosen: Variant, method: string, request: RequestFields): Answer | undefined {
  const verdict = evaluate(request, chosen);
  if (verdict === "failed") return preconditionFailed(chosen);
  if (verdict !== "go on") return verdict.notModified();
  // HEAD has no ranges (RFC 9110 section 14.2).
  const range = method === "GET" ? request.get("range") : undefined;
  if (range && ifRangeHolds(request, chosen)) {
    const answer = answerRange(range, chosen);
    if (answer !== "ignored") return answer;
  }
  return chosen.whole();
}

function preconditionFailed({ resource, tag }: Variant): Answer {
  return resource.general().text(412, "Precondition Failed", ["ETag", tag, ...only(resource.fields(), "Vary")]);
}

function notAcceptable(resource: Resource): Answer {
  const vary = valueOf(resource.fields(), "Vary") ?? "Accept-Encoding";
  const text = "Not Acceptable: the file is in none of the accepted content codings";
  return resource.general().text(406, text, ["Vary", vary]);
}
