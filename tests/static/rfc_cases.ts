import { dictionaries } from "./rfc/dictionaries.ts";
import { digests } from "./rfc/digests.ts";
import { methods } from "./rfc/methods.ts";
import { negotiation } from "./rfc/negotiation.ts";
import { options } from "./rfc/options.ts";
import { preconditions } from "./rfc/preconditions.ts";
import { ranges } from "./rfc/ranges.ts";
import { representations } from "./rfc/representations.ts";
import type { RFCCase } from "./rfc/rfc_case.ts";
import { targets } from "./rfc/targets.ts";

/** What the standards say of requests and answers: each a case, by its section. */
export const rfcCases: readonly RFCCase[] = [
  ...methods,
  ...targets,
  ...negotiation,
  ...preconditions,
  ...ranges,
  ...representations,
  ...dictionaries,
  ...digests,
  ...options,
];
