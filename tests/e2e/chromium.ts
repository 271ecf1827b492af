import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";
import type { BrowserContext, CDPSession, chromium as Chromium, Page } from "playwright-core";
import { atLast } from "../support/waits.ts";

// As ES module it does not load on Deno.
const { chromium } = createRequire(import.meta.url)("playwright-core") as { chromium: typeof Chromium };

/** The shell has the same engine and network without a desktop's browser around them: a start takes a third of the time. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const places = [process.env.CHROMIUM, ...names.map((name) => `/usr/bin/${name}`)];
const executable = places.find((path) => path !== undefined && existsSync(path));

/** The reason for a missing browser; false if there is one. */
export const noChromium: string | false = executable === undefined ? "needs Chromium" : false;

type Headers = Readonly<Record<string, string>>;

/** A browser's request and its response, as sent over the network. */
export interface Exchange {
  readonly path: string;
  /** The fields, with names in lower case; empty if nothing was sent because the browser had it. */
  readonly request: Headers;
  /** The status on the wire: 304 where a page sees 200. Undefined if nothing was sent. */
  readonly status: number | undefined;
  /** The fields, with names in lower case. */
  readonly response: Headers;
  /** The bytes received over the network, including the head. */
  readonly transferred: number;
}

/** The part of an exchange that has been reported so far: the events of one come in any order. */
type Gathered = { -readonly [Key in keyof Exchange]: Exchange[Key] } & {
  /** The number of announced heads that are not reported yet. */
  heads: number;
  /** Whether the exchange has ended. */
  isOver: boolean;
  /**
   * Whether the browser reports the exchange's end soon: not that of streams, nor of dictionaries, whose announced
   * heads never follow.
   */
  isAwaited: boolean;
};

const AWAITED: ReadonlySet<string> = new Set(["Document", "Stylesheet", "Script", "XHR", "Fetch"]);

/** A browser with a profile on disk, and its requests. */
export interface Browser {
  readonly page: Page;
  /** Errors and warnings of the console, and exceptions that nothing caught. */
  readonly complaints: readonly string[];
  /** Returns the exchanges since the previous call, by path, once all of them are reported completely. */
  readonly takeExchanges: () => Promise<ReadonlyMap<string, Exchange>>;
  readonly close: () => Promise<void>;
}

/** Opens Chromium with the profile in `folder`, and more words on its command line. */
export async function openBrowser(folder: string, args: readonly string[] = []): Promise<Browser> {
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: executable!,
    headless: true,
    args: [...args],
    chromiumSandbox: false, // it does not work for root
    timeout: 60_000,
  });
  try {
    return await watched(context);
  } catch (error) {
    await context.close();
    throw error;
  }
}

async function watched(context: BrowserContext): Promise<Browser> {
  const page = context.pages()[0] ?? await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => void complaints.push(String(error)));
  const session = await context.newCDPSession(page);
  const exchanges = new Map<string, Gathered>();
  await gather(session, exchanges);
  return {
    page,
    complaints,
    takeExchanges: async () => {
      await atLast(() => [...exchanges.values()].every((one) => !one.isAwaited || one.isOver && one.heads <= 0));
      const taken = new Map([...exchanges.values()].map((exchange) => [exchange.path, exchange]));
      exchanges.clear();
      return taken;
    },
    close: () => context.close(),
  };
}

async function gather(session: CDPSession, exchanges: Map<string, Gathered>): Promise<void> {
  const of = (id: string): Gathered => {
    const none = { path: "", request: {}, status: undefined, response: {}, transferred: 0 };
    const known = exchanges.get(id) ?? { ...none, heads: 0, isOver: false, isAwaited: false };
    exchanges.set(id, known);
    return known;
  };
  session.on("Network.requestWillBeSent", ({ requestId, request, type, redirectHasExtraInfo }) => {
    if (!/^https?:/.test(request.url)) return;
    const exchange = of(requestId);
    exchange.path = new URL(request.url).pathname;
    exchange.isAwaited = AWAITED.has(type ?? "");
    if (redirectHasExtraInfo) exchange.heads++;
  });
  session.on("Network.responseReceived", ({ requestId, response, hasExtraInfo }) => {
    if (hasExtraInfo && !response.fromDiskCache && /^https?:/.test(response.url)) of(requestId).heads++;
  });
  session.on("Network.requestServedFromCache", ({ requestId }) => {
    of(requestId).isAwaited = false;
  });
  session.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) => {
    of(requestId).request = lowerCase(headers);
  });
  session.on("Network.responseReceivedExtraInfo", ({ requestId, headers, statusCode }) => {
    const exchange = of(requestId);
    exchange.heads--;
    Object.assign(exchange, { status: statusCode, response: lowerCase(headers) });
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    Object.assign(of(requestId), { transferred: encodedDataLength, isOver: true });
  });
  session.on("Network.loadingFailed", ({ requestId }) => {
    of(requestId).isOver = true;
  });
  await session.send("Network.enable");
}

function lowerCase(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
