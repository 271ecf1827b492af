import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { HttpClient, type HttpInterceptor } from "../../../lib/http/mod.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { pause, until, within } from "../../support/waits.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const skip = collectGarbage === undefined;
const pass: HttpInterceptor = (request, next) => next(request);

for (const protocol of PROTOCOLS) {
  test(`${protocol}: the signal of a Request that is collected aborts its call, before the head and in the body`, {
    skip,
  }, () =>
    scene(protocol, {}, (request) => {
      if (request.path !== "/body") return;
      request.head(200);
      request.data(Buffer.from("some"));
    }, async ({ url, requests }) => {
      const clients = [[], [pass]].map((intercept) => new HttpClient({ h2c: protocol === "h2c", intercept }));
      const controllers: AbortController[] = [];
      const calls = ["/head", "/body"].flatMap((path) =>
        clients.map(async (client) => {
          const controller = new AbortController();
          controllers.push(controller);
          const response = await client.fetch(new Request(url + path, { signal: controller.signal }));
          return await response.text();
        })
      );
      const ended = Promise.allSettled(calls);
      await until(() => requests.length === calls.length, "the requests");
      for (let times = 0; times < 3; times++) {
        await pause(10);
        collectGarbage!();
      }
      for (const controller of controllers) controller.abort();
      const outcomes = await within(ended, "the ends of the calls", 5000);
      for (const outcome of outcomes) {
        assert.equal(outcome.status === "rejected" && outcome.reason.name, "AbortError");
      }
      await until(() => requests.every(({ isGone }) => isGone), "the ends at the server");
      for (const client of clients) client.destroy();
    }));
}
