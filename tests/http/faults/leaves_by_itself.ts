/**
 * A process with a client that is never closed: it must end by itself, soon. Arguments: the URLs of origins, of which the last
 * refuses connections. It prints what it did.
 */
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";

const client = new HttpClient({ tls: { ca: certificates.ca } });
const outcomes: string[] = [];

async function attempt(url: string, signal?: AbortSignal): Promise<void> {
  try {
    outcomes.push(await (await client.fetch(url, { signal })).text());
  } catch (error) {
    outcomes.push(error instanceof HttpError ? error.code : (error as Error).name);
  }
}

for (const url of process.argv.slice(2)) {
  await Promise.all(Array.from({ length: 10 }, () => attempt(`${url}/path`)));
  await attempt(`${url}/hang`, AbortSignal.timeout(50));
}
console.log(outcomes.join(" "));
