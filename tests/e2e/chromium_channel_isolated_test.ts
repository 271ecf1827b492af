import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { createEventChannel } from "../../lib/compression/mod.ts";
import { closeAll, protocols } from "../compression/served.ts";
import { inFolder } from "../support/folders.ts";
import { noChromium, openBrowser } from "./chromium.ts";

const EVENTS = 8;
const PAGE = `<!doctype html><link rel="icon" href="data:,"><title>channel</title>`;

/** Requests each event after all sources received the previous one; a second source joins late. Runs in a page. */
function listen(count: number): Promise<string[][]> {
  return new Promise((resolve) => {
    const seen: string[][] = [];
    const open = (expected: number): void => {
      const source = new EventSource("/events");
      const mine: string[] = [];
      seen.push(mine);
      source.addEventListener("open", () => void fetch("/next"), { once: true });
      source.onmessage = ({ data, lastEventId }) => {
        mine.push(`${lastEventId} ${data.at(-1)}`);
        const isSeenByAll = seen.every((each) => each.at(-1) === mine.at(-1));
        if (mine.length === expected) source.close();
        if (!isSeenByAll) return;
        if (Number(lastEventId) + 1 === count) resolve(seen);
        else if (Number(lastEventId) === 2) open(count - 3);
        else void fetch(Number(lastEventId) === 4 ? "/cut" : "/next");
      };
    };
    open(count);
    setTimeout(() => resolve(seen), 10_000);
  });
}

test(
  "EventSources see each event once, also those that join late, or again after their connection was lost",
  { skip: noChromium },
  () =>
    inFolder(async (folder) => {
      const browser = await openBrowser(join(folder, "profile"));
      try {
        for (const coding of ["zstd", "gzip"] as const) {
          const channel = createEventChannel({ codings: [coding], retry: 10 });
          await channel.ready();
          const events = new Set<ServerResponse>();
          let sent = 0;
          const served = await protocols["http/1.1"]((req, res) => {
            if (req.url === "/events") {
              events.add(res);
              return channel.node(req, res);
            }
            if (req.url === "/") res.setHeader("content-type", "text/html");
            if (req.url === "/cut") { for (const each of events) each.destroy(); }
            if (req.url !== "/") channel.send({ id: String(sent), data: `${"event ".repeat(20)}${sent++}` });
            res.end(req.url === "/" ? PAGE : "");
          });
          await browser.page.goto(`http://127.0.0.1:${served.port}/`);
          const seen = await browser.page.evaluate(listen, EVENTS);
          const all = Array.from({ length: EVENTS }, (_, i) => `${i} ${i}`);
          assert.deepEqual(seen, [all, all.slice(3)]);
          assert.equal((await browser.takeExchanges()).get("/events")!.response["content-encoding"], coding);
          channel.close();
        }
      } finally {
        await browser.close();
        await closeAll();
      }
    }),
);
