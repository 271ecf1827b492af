import { corpusFile } from "../corpus_folder.ts";
import { generatedLines, LineChance } from "../generated_lines.ts";

const services = ["checkout", "search", "catalogue", "identity", "images", "recommendations"];
const levels = ["info", "info", "info", "info", "debug", "warn", "error"];
const paths = ["/cart", "/api/v2/products", "/login", "/search?q=café+crème", "/images/thumb", "/account/orders"];
const countries = ["DE", "FR", "NO", "PT", "BR", "JP", "IN", "US"];
const messages = [
  "request completed",
  "cache miss, fetched from origin",
  'client sent a header that is not allowed: "x-forwarded-host"',
  "retried after a timeout of the payment provider",
  "naïve résumé upload – 文書を保存しました",
];

/** Returns a record of about 220 bytes, like a service's log; the same for the same index. */
function recordOf(index: number): object {
  const chance = new LineChance(index);
  return {
    id: index,
    time: new Date(1_790_000_000_000 + index * 37).toISOString(),
    level: chance.oneOf(levels),
    service: chance.oneOf(services),
    path: chance.oneOf(paths),
    status: chance.below(50) === 0 ? 503 : 200,
    duration: chance.below(100_000) / 1000,
    user: chance.below(5) === 0
      ? null
      : { id: chance.below(1e7), country: chance.oneOf(countries), returning: chance.below(2) === 0 },
    tags: Array.from({ length: chance.below(4) }, () => chance.oneOf(services)),
    message: chance.oneOf(messages),
  };
}

/** Returns the path of a file of records, one a line and about `size` bytes together; it is made if it is not there. */
export function recordsFile(size: number): Promise<string> {
  return corpusFile(`records-${size}.ndjson`, generatedLines(size, (index) => JSON.stringify(recordOf(index))));
}
