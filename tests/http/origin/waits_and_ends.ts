/** A process that prints how a call ends which waits for the connection of a response that is not read, for each URL, and how one whose interceptor never answers. */
import { HttpClient } from "../../../lib/http/mod.ts";

const unread: Response[] = [];

async function run(url: string): Promise<void> {
  const client = new HttpClient({
    h2c: url.includes("h2c"),
    connections: 1,
    maxConcurrentStreams: 1,
  });
  unread.push(await client.fetch(url));
  console.log(await client.fetch(url, { queueTimeout: 50 }).catch(({ code }) => code));
}

async function runAll(urls: string[]): Promise<void> {
  await Promise.all(urls.map(run));
  const intercept = [() => new Promise<never>(() => {})];
  console.log(await new HttpClient().fetch(urls[0], { timeout: 50, intercept }).catch(({ code }) => code));
}

void runAll(process.argv.slice(2)); // not awaited, as that alone keeps some runtimes alive
