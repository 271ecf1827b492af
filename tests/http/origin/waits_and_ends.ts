/** A process that prints how a call ends which waits for the connection of a response that is not read, for each URL. */
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

void Promise.all(process.argv.slice(2).map(run)); // not awaited, as that alone keeps some runtimes alive
