import assert from "node:assert/strict";
import test from "node:test";
import type { HttpClient } from "../../../lib/http/mod.ts";
import { tries } from "../../support/long_run.ts";
import { within } from "../../support/waits.ts";
import { Child } from "../faults/child.ts";
import { newClient } from "../faults/trial.ts";

/** The requests for each time. */
const requests = tries(12);
/**
 * The highest number of rows for each time, until one loses none. A machine that stops the client for longer than a
 * connection rests has it lose a request. A client that does not let connections rest loses some of each row.
 */
const ROWS = 6;
/** The times of endings, in µs after a response. */
const TIMES = Array.from({ length: 21 }, (_, step) => step * 50);

/**
 * Counts the requests of a row that got no response, or that of another; each is sent when the response before it is
 * there.
 */
async function countLost(client: HttpClient, url: string): Promise<number> {
  let lost = 0;
  for (let i = 0; i < requests; i++) {
    const path = new URL(`${url}/${i}`).pathname;
    const text = await client.fetch(`${url}/${i}`, { method: "POST", body: "x" }).then(
      (each) => each.text(),
      () => undefined,
    );
    if (text !== path) lost++;
  }
  return lost;
}

for (
  const [kind, what] of Object.entries({
    fin: "the end of the connection",
    rst: "a reset",
    second: "a response that nobody asked for",
  })
) {
  test(`a POST does not go where ${what} follows the last response within a millisecond`, async () => {
    const server = new Child(new URL("./ending_server.ts", import.meta.url), []);
    const client = newClient({ retries: 0 });
    try {
      const origin = `http://127.0.0.1:${await server.line()}`;
      for (const time of TIMES) {
        const url = `${origin}/${kind}/${time}`;
        const lost: number[] = [];
        do {
          const all = await within(countLost(client, url), "the requests");
          lost.push(all - Number(await server.ask("late")));
        } while (lost.at(-1)! > 0 && lost.length < ROWS);
        assert.ok(
          lost.at(-1)! <= 0,
          `after ${time} µs, of rows of ${requests}, more were lost than came late: ${lost}`,
        );
      }
      await within(client.close(), "close()");
    } finally {
      client.destroy();
      server.leave();
      await server.ended;
    }
  });
}
