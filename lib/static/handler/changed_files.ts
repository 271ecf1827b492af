import type { Table } from "./table.ts";
import type { Warn } from "../scan/representation.ts";
import { Turns } from "../scan/turns.ts";

const MESSAGE = "has changed, but was answered as immutable: clients that have it keep it for up to a year. " +
  "Give it another name when its content changes, or set immutable to false, or to a pattern of what never changes";

/** Warns of each file that `former` answered as immutable and that has other bytes in `table`. */
export async function warnOfChanged(former: Table, table: Table, warn: Warn): Promise<void> {
  const turns = new Turns();
  for (let file = 0; file < table.tree.length; file++) {
    if (turns.isOver) await turns.next();
    const path = table.tree.changedPath(file, former.tree);
    if (path !== undefined && former.isImmutable(path)) warn(path, MESSAGE);
  }
}
