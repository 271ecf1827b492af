import { entries } from "../handler/serving_handler.ts";
import { draftCases } from "./draft_cases.ts";
import { run } from "./exchange_case.ts";
import { overlapping } from "../../support/overlapping.ts";

const test = overlapping();

for (const entry of Object.keys(entries)) {
  for (const expected of draftCases) test(`${entry}: ${expected.name}`, () => run(entry, expected));
}
