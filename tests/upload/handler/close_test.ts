import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { test } from "node:test";
import { entries, serving } from "./serving_handler.ts";

/** Begins a PUT whose writes are sent at once. */
function put(port: number, path: string, agent: Agent): { request: ClientRequest; answered: Promise<IncomingMessage> } {
  const options = { port, host: "127.0.0.1", method: "PUT", path, agent, headers: { "content-length": "5" } };
  const request = httpRequest(options);
  const answered = once(request, "response").then(([response]) => (response as IncomingMessage).resume());
  return { request, answered };
}

for (const entry of Object.keys(entries)) {
  test(`${entry}: a handler that is closed refuses uploads, also on kept connections, and ends those under way`, () => {
    const hasBegun = Promise.withResolvers<void>();
    const onProgress = ({ bytes }: { readonly bytes: number }): void => void (bytes === 2 && hasBegun.resolve());
    return serving(entry, { resumable: true, onProgress }, async ({ port, handler, logged }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const others = new Agent({ keepAlive: true });
      try {
        const first = put(port, "/first", agent);
        first.request.end("first");
        const { headers } = await first.answered;
        assert.notEqual(headers.connection, "close");
        const begun = put(port, "/begun", others);
        begun.request.write("be");
        await hasBegun.promise;
        let isClosed = false;
        const closing = handler.close().then(() => isClosed = true);
        const refused = put(port, "/second", agent);
        refused.request.end("again");
        const answer = await refused.answered;
        assert.equal(answer.statusCode, 503);
        assert.equal(answer.headers.connection, "close");
        assert.equal(answer.headers["retry-after"], "1");
        assert.equal(isClosed, false);
        begun.request.end("gun");
        assert.equal((await begun.answered).statusCode, 201);
        await closing;
        const told = logged.map(({ path, status }) => `${path} ${status}`);
        assert.deepEqual(told, ["/first 201", "/second 503", "/begun 201"]);
      } finally {
        agent.destroy();
        others.destroy();
      }
    });
  });
}
