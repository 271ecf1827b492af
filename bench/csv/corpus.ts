import { corpusFile } from "../corpus_folder.ts";
import { generatedLines, LineChance } from "../generated_lines.ts";

const customers = [
  "Ada Lovelace",
  "Grace Hopper",
  "Linus",
  "Margaret Hamilton",
  '"""Amazing"" Ada"',
  '"Dijkstra, Edsger W."',
];
const countries = ["DE", "FR", "NO", "PT", "BR", "JP", "IN", "US"];
const notes = [
  "",
  "",
  "",
  "paid",
  "shipped with the second parcel",
  '"left at the door, ""as always"""',
  "café, déjà vu".slice(0, 4),
];

/** The number of fields of each record. */
export const COLUMNS = 10;

/** Returns a record of about 100 bytes, determined by its index; a third of them have a quoted field. */
function recordOf(index: number): string {
  const chance = new LineChance(index);
  return [
    index,
    new Date(1_790_000_000_000 + index * 37).toISOString(),
    chance.oneOf(customers),
    chance.oneOf(countries),
    `SKU-${chance.below(1e6)}`,
    chance.below(20),
    (chance.below(1e5) / 100).toFixed(2),
    chance.below(2) === 0,
    chance.below(1e9).toString(36),
    chance.oneOf(notes),
  ].join(",");
}

/** Returns the path of a file of records and about `size` bytes; it is made if it is not there. */
export function ordersFile(size: number): Promise<string> {
  return corpusFile(`orders-${size}.csv`, generatedLines(size, recordOf));
}
