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

/** The standards' rules for requests and responses, one case a rule, by section. */
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
