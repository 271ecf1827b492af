import type { Program } from "./program.ts";
import { proxy } from "./proxy.ts";
import { reactPage } from "./react_page.ts";
import { rowsOfCursor } from "./rows.ts";
import { tokenStream } from "./tokens.ts";
import { teedUpload } from "./upload.ts";

/** All programs, in the table's order. */
export const programs: readonly Program[] = [reactPage, tokenStream, teedUpload, proxy, rowsOfCursor];

/** Returns the program with that title. */
export function programOf(title: string): Program {
  const program = programs.find((each) => each.title === title);
  if (!program) throw new TypeError(`no program is named "${title}"`);
  return program;
}
