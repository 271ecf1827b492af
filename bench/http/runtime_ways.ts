import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { type ClientHttp2Stream, connect } from "node:http2";
import { Agent as SecureAgent, request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import type { ClientSetup } from "./client_questions.ts";
import { fetchWay } from "./fetch_way.ts";
import type { Way, Ways } from "./ways.ts";

/**
 * A session of node:http2 with its defaults and minimal code around it. Larger windows make no difference to small
 * bodies; and Bun stops once `setLocalWindowSize()` was called.
 */
async function bareHttp2({ url, ca }: ClientSetup): Promise<Way> {
  const session = connect(url, { ca });
  await once(session, "connect");
  session.on("error", () => {}); // its requests report the error
  return {
    text: () => textOf(session.request({ ":path": "/" })),
    download: () => bytesOf(session.request({ ":path": "/" })),
    upload: async (pieces) => {
      const stream = session.request({ ":path": "/", ":method": "POST" });
      const answered = textOf(stream);
      Readable.from(pieces, { objectMode: false }).pipe(stream);
      await answered;
    },
    end: () => session.close(),
  };
}

function textOf(stream: ClientHttp2Stream | IncomingMessage): Promise<string> {
  return new Promise((ended, failed) => {
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (part: string) => text += part).on("end", () => ended(text)).on("error", failed);
  });
}

function bytesOf(stream: ClientHttp2Stream | IncomingMessage): Promise<number> {
  return new Promise((ended, failed) => {
    let bytes = 0;
    stream.on("data", (part: Uint8Array) => bytes += part.length).on("end", () => ended(bytes)).on("error", failed);
  });
}

/** node:http or node:https with an agent that keeps connections. */
function bareHttp1({ url, ca, connections }: ClientSetup): Way {
  const isSecure = url.startsWith("https:");
  const options = { keepAlive: true, maxSockets: connections ?? Infinity };
  const agent = isSecure ? new SecureAgent({ ...options, ca }) : new Agent(options);
  const ask = isSecure ? httpsRequest : httpRequest;
  const answerTo = (request: ClientRequest): Promise<IncomingMessage> =>
    new Promise((came, failed) => request.on("response", came).on("error", failed));
  const get = (): Promise<IncomingMessage> => {
    const request = ask(url, { agent });
    request.end();
    return answerTo(request);
  };
  return {
    text: async () => await textOf(await get()),
    download: async () => await bytesOf(await get()),
    upload: async (pieces) => {
      const request = ask(url, { agent, method: "POST" });
      const answer = answerTo(request);
      Readable.from(pieces, { objectMode: false }).pipe(request);
      await textOf(await answer);
    },
    end: () => agent.destroy(),
  };
}

/** Returns the runtime's own `fetch`. Its certificate authority comes from the environment. */
function ownFetch({ url }: ClientSetup): Way {
  return fetchWay((init) => fetch(url, init), () => {});
}

/** The HTTP clients that each runtime includes. */
export const runtimeWays: Ways = { "node:http2": bareHttp2, "node:http": bareHttp1, "own fetch": ownFetch };
