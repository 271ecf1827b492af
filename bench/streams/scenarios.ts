import { bytes } from "./bytes.ts";
import { bodies } from "./bodies.ts";
import { creating } from "./creating.ts";
import { iterating } from "./iterating.ts";
import { piping } from "./piping.ts";
import { reading } from "./reading.ts";
import type { Scenario } from "./scenario.ts";
import { short } from "./short.ts";

/** All rows by subject, in the table's order. */
export const groups: Readonly<Record<string, readonly Scenario[]>> = {
  "read, write": reading.slice(0, 4),
  pipes: piping,
  "for await": iterating,
  "from()": reading.slice(4),
  bytes,
  short,
  creation: creating,
  bodies,
};

/** All rows, in the table's order. */
export const scenarios: readonly Scenario[] = Object.values(groups).flat();
