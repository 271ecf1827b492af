import type { ClientSetup } from "./client_questions.ts";
import { fetchWay } from "./fetch_way.ts";
import type { Way, Ways } from "./ways.ts";

interface Dispatcher {
  destroy(): Promise<void>;
}

/** What is used of it. */
interface Undici {
  readonly Agent: new (options: object) => Dispatcher;
  readonly H2CClient: new (origin: string, options: object) => Dispatcher;
  request(url: string, options: object): Promise<{ body: AsyncIterable<Uint8Array> & { text(): Promise<string> } }>;
  fetch(url: string, options: object): Promise<Response>;
}

const UNDICI: string = "undici/index.js"; // the bare name is one of Bun's own modules
const { Agent, H2CClient, request, fetch } = await import(UNDICI) as Undici;

function dispatcherFor({ url, ca, isHttp2, connections }: ClientSetup): Dispatcher {
  if (isHttp2 && url.startsWith("http:")) return new H2CClient(url, { pipelining: 100, maxConcurrentStreams: 100 });
  return new Agent({ allowH2: isHttp2, connect: { ca }, ...(connections === undefined ? {} : { connections }) });
}

function byRequest(setup: ClientSetup): Way {
  const dispatcher = dispatcherFor(setup);
  const { url } = setup;
  return {
    text: async () => await (await request(url, { dispatcher })).body.text(),
    download: async () => {
      let bytes = 0;
      for await (const piece of (await request(url, { dispatcher })).body) bytes += piece.length;
      return bytes;
    },
    upload: async (pieces) => {
      const { body } = await request(url, { dispatcher, method: "POST", body: pieces });
      await body.text();
    },
    end: () => void dispatcher.destroy(),
  };
}

function byFetch(setup: ClientSetup): Way {
  const dispatcher = dispatcherFor(setup);
  return fetchWay((init) => fetch(setup.url, { ...init, dispatcher }), () => void dispatcher.destroy());
}

/** Those of undici, on whatever runtime. */
export const undiciWays: Ways = { "undici request": byRequest, "undici fetch": byFetch };
