import { bytes } from "./bytes.ts";
import { piping } from "./piping.ts";
import { reading } from "./reading.ts";
import type { Scenario } from "./scenario.ts";
import { short } from "./short.ts";

/** All rows, in the table's order. */
export const scenarios: readonly Scenario[] = [
  ...reading.slice(0, 2),
  ...piping,
  ...reading.slice(2),
  ...bytes,
  ...short,
];
