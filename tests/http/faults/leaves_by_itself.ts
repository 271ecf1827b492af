/**
 * A process with a client that is never closed: it must end by itself, soon. Arguments: the URLs of origins, of which the last
 * refuses connections, and of which the first never answers at `/hang`. It prints what it did.
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

const urls = process.argv.slice(2);
for (const url of urls) await Promise.all(Array.from({ length: 10 }, () => attempt(`${url}/path`)));
await attempt(`${urls[0]}/hang`, AbortSignal.timeout(50));
console.log(outcomes.join(" "));
