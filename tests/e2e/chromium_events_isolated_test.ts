import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { createCompression } from "../../lib/compression/mod.ts";
import { closeAll, protocols } from "../compression/served.ts";
import { inFolder } from "../support/folders.ts";
import { noChromium, openBrowser } from "./chromium.ts";

const EVENTS = 5;
const PAGE = `<!doctype html><link rel="icon" href="data:,"><title>events</title>`;

/** Requests each event after the previous one arrived, and returns the events. Runs in a page. */
function listen(count: number): Promise<string[]> {
  return new Promise((resolve) => {
    const source = new EventSource("/events");
    const next = (): void => void fetch(new Request("/next"));
    const seen: string[] = [];
    source.onopen = next;
    source.onmessage = ({ data, lastEventId }) => {
      seen.push(`${lastEventId} ${data.at(-1)}`);
      if (seen.length < count) return next();
      source.close();
      resolve(seen);
    };
    setTimeout(() => resolve(seen), 10_000);
  });
}

test(
  "a page's EventSource sees each event before the next one is sent, in every coding",
  { skip: noChromium },
  () =>
    inFolder(async (folder) => {
      const browser = await openBrowser(join(folder, "profile"));
      try {
        for (const coding of ["zstd", "br", "gzip"] as const) {
          const compression = createCompression({ codings: [coding] });
          await compression.ready();
          let events: ServerResponse | undefined;
          let sent = 0;
          const served = await protocols["http/1.1"]((req, res) => {
            compression.node(req, res);
            if (req.url === "/events") {
              events = res;
              res.writeHead(200, { "content-type": "text/event-stream" });
              res.flushHeaders();
            } else if (req.url === "/next") {
              events!.write(`id: ${sent}\n`);
              events!.write(`data: ${"event ".repeat(20)}${sent++}\n\n`);
              res.end();
            } else {
              res.setHeader("content-type", "text/html");
              res.end(PAGE);
            }
          });
          await browser.page.goto(`http://127.0.0.1:${served.port}/`);
          const seen = await browser.page.evaluate(listen, EVENTS);
          assert.deepEqual(seen, Array.from({ length: EVENTS }, (_, i) => `${i} ${i}`));
          assert.equal(events?.getHeader("content-encoding"), coding);
        }
      } finally {
        await browser.close();
        await closeAll();
      }
    }),
);
