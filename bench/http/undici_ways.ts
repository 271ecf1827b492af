import { Readable } from "node:stream";
import { Agent, type Dispatcher, fetch, H2CClient, request } from "undici/index.js"; // Bun has its own `undici`
import type { ClientSetup } from "./client_questions.ts";
import { fetchWay } from "./fetch_way.ts";
import type { Way, Ways } from "./ways.ts";

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
      const { body } = await request(url, { dispatcher, method: "POST", body: Readable.from(pieces) });
      await body.text();
    },
    end: () => void dispatcher.destroy(),
  };
}

function byFetch(setup: ClientSetup): Way {
  const dispatcher = dispatcherFor(setup);
  return fetchWay((init) => fetch(setup.url, { ...init, dispatcher }), () => void dispatcher.destroy());
}

/** undici's ways to send requests, on any runtime. */
export const undiciWays: Ways = { "undici request": byRequest, "undici fetch": byFetch };
