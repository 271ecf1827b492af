import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { connect as connectTls } from "node:tls";
import { afterPoll } from "../../lib/runtime/mod.ts";
import { Child } from "../http/faults/child.ts";
import { LIMIT, within } from "../support/waits.ts";

test("all that wait for a look at the sockets are called once, in turn", async () => {
  const called: string[] = [];
  await new Promise<void>((resolve) => {
    afterPoll(() => called.push("first"));
    afterPoll(() => {
      called.push("second");
      afterPoll(() => {
        called.push("third");
        afterPoll(resolve);
      });
    });
  });
  assert.deepEqual(called, ["first", "second", "third"]);
});

/** Ways into a turn of the event loop, from a read. */
const PHASES: Record<string, (act: () => void) => void> = {
  "a read": (act) => act(),
  "a microtask": (act) => queueMicrotask(act),
  "a tick": (act) => process.nextTick(act),
  "a timer": (act) => void setTimeout(act, 1),
  "an immediate": (act) => void setImmediate(act),
};

for (const [protocol, kinds] of [["TCP", 4], ["TLS", 3]] as const) {
  for (const kind of ["bytes", "many-bytes", "end", "reset"].slice(0, kinds)) {
    test(`${kind} over ${protocol} that the system had by the call are handed out before the callback, whatever calls`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "millrace-poll-"));
      const server = new Child(new URL("./pushing_server.ts", import.meta.url), []);
      try {
        const ports = { TCP: Number(await server.line()), TLS: Number(await server.line()) };
        for (const [phase, enter] of Object.entries(PHASES)) {
          const socket = protocol === "TLS"
            ? connectTls({ port: ports.TLS, host: "127.0.0.1", rejectUnauthorized: false })
            : connect({ port: ports.TCP, host: "127.0.0.1" });
          const file = join(folder, phase);
          let came = false;
          const wasThere = new Promise<boolean>((resolve) => {
            socket.once("data", () => {
              for (const event of ["data", "end", "error", "close"]) socket.on(event, () => came = true);
              enter(() => {
                writeFileSync(`${file}.go`, "");
                for (const start = performance.now(); !existsSync(file);) {
                  assert.ok(performance.now() - start < LIMIT, "the server sent nothing");
                }
                afterPoll(() => resolve(came));
              });
            });
          });
          socket.write(`${kind} ${file}`);
          assert.ok(await within(wasThere, phase), `called in ${phase}`);
          socket.destroy();
        }
      } finally {
        server.leave();
        await server.ended;
        rmSync(folder, { recursive: true });
      }
    });
  }
}
