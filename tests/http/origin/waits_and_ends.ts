/** A process that prints how a call ends which waits for the connection of a response that is not read, for each URL, one whose interceptor never answers, and two over streams. */
import { Duplex } from "node:stream";
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

/** Returns a stream that holds nothing of the system, and answers as long as it is not mute. */
function peer(isMute: boolean): Duplex {
  const stream: Duplex = new Duplex({
    read: () => {},
    write(_chunk, _encoding, done) {
      if (!isMute) stream.push("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine");
      done();
    },
  });
  return stream;
}

async function overStream(isMute: boolean): Promise<string> {
  const client = new HttpClient({ connect: () => peer(isMute), headersTimeout: 50, retries: 0 });
  return await client.fetch("http://x.test/").then((response) => response.text(), ({ code }) => code);
}

async function runAll(urls: string[]): Promise<void> {
  await Promise.all(urls.map(run));
  const intercept = [() => new Promise<never>(() => {})];
  console.log(await new HttpClient().fetch(urls[0], { timeout: 50, intercept }).catch(({ code }) => code));
  console.log(await overStream(true), await overStream(false)); // of which the latter stays open
}

void runAll(process.argv.slice(2)); // not awaited, as that alone keeps some runtimes alive
