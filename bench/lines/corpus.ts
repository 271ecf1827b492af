import { corpusFile } from "../corpus_folder.ts";
import { generatedLines, LineChance } from "../generated_lines.ts";

const methods = ["GET", "GET", "GET", "GET", "POST", "HEAD", "PUT"];
const folders = ["api/v2/products", "assets", "images/thumb", "account/orders", "search", "blog/2026"];
const statuses = [200, 200, 200, 200, 200, 304, 301, 404, 500];
const agents = ["Firefox/145.0", "Chrome/142.0.0.0", "Safari/605.1.15", "curl/8.16.0", "-"];

/** Returns a line of about 100 bytes of a server's access log, without its ending; the same for the same index. */
function lineOf(index: number): string {
  const chance = new LineChance(index);
  const time = new Date(1_790_000_000_000 + index * 7).toISOString();
  const request = `${chance.oneOf(methods)} /${chance.oneOf(folders)}/${chance.below(1e6).toString(36)}?page=${
    chance.below(40)
  } HTTP/2`;
  const address = `10.${chance.below(256)}.${chance.below(256)}.${chance.below(256)}`;
  return `${address} ${time} "${request}" ${chance.oneOf(statuses)} ${chance.below(1e5)} "${chance.oneOf(agents)}"`;
}

/** Returns the path of a log of about `size` bytes; it is made if it is not there. */
export function logFile(size: number): Promise<string> {
  return corpusFile(`access-${size}.log`, generatedLines(size, lineOf));
}
