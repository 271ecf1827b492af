import { bytes } from "./bytes.ts";
import { bodies } from "./bodies.ts";
import { creating } from "./creating.ts";
import { iterating } from "./iterating.ts";
import { piping } from "./piping.ts";
import { reading } from "./reading.ts";
import type { Scenario } from "./scenario.ts";
import { short } from "./short.ts";

/** All rows, in the table's order. */
export const scenarios: readonly Scenario[] = [
  ...reading.slice(0, 4),
  ...piping,
  ...iterating,
  ...reading.slice(4),
  ...bytes,
  ...short,
  ...creating,
  ...bodies,
];
