import assert from "node:assert/strict";
import test from "node:test";
import { pause, until, within } from "../../support/waits.ts";
import { Child } from "./child.ts";
import { Setting } from "./http2_frames.ts";
import { Origin } from "./origin.ts";
import { burst, checkEchoes, echoPath, failureOf, newClient, outcomeOf, pattern, tally, trial } from "./trial.ts";

const originProcess = new URL("origin_process.ts", import.meta.url);

for (const protocol of ["h2", "http/1.1"] as const) {
  test(`close() waits for what is under way, queued or being read, and takes no more (${protocol})`, async () => {
    const origin = await new Origin(protocol, { settings: { [Setting.maxConcurrentStreams]: 20 } }).start();
    const client = newClient({ connections: protocol === "h2" ? 1 : 20 });
    try {
      const responses = Array.from({ length: 50 }, (_, index) => client.fetch(`${origin.url}/${index}`));
      await until(() => origin.requests.length === 20, "20 requests");
      let isClosed = false;
      const closed = client.close().then(() => isClosed = true);
      assert.equal(await failureOf(client.fetch(origin.url)), "CLIENT_CLOSED");
      const answered = new Set<unknown>();
      while (answered.size < 50) {
        await until(() => origin.requests.length > answered.size, "more requests");
        assert.equal(isClosed, false);
        for (const request of origin.requests.filter((each) => !answered.has(each))) {
          answered.add(request);
          echoPath(request);
        }
      }
      await within(checkEchoes(responses), "the responses");
      await within(closed, "close()");
      await until(() => origin.listener.sockets.size === 0, "the end of all sockets");
      assert.deepEqual([client.stats().connections, client.stats().active, client.stats().queued], [0, 0, 0]);
      assert.deepEqual(origin.violations, []);
      await within(client.close(), "close() once more");
    } finally {
      client.destroy();
      await origin.stop();
    }
  });

  test(`destroy() fails what waits, is under way or being read, with CLIENT_CLOSED and its reason (${protocol})`, async () => {
    const origin = await new Origin(protocol, { settings: { [Setting.maxConcurrentStreams]: 20 } }).start();
    const client = newClient({ connections: protocol === "h2" ? 1 : 20 });
    try {
      origin.onRequest = (request) => {
        origin.requests.push(request);
        if (Number(request.path.slice(1)) % 2) return;
        request.head(200);
        request.data(pattern.subarray(0, 100));
      };
      const reason = new Error("no more");
      const outcomes = Promise.all(Array.from({ length: 50 }, async (_, index) => {
        try {
          return await (await client.fetch(`${origin.url}/${index}`)).text();
        } catch (error) {
          assert.equal((error as Error).cause, reason);
          return (error as { code: string }).code;
        }
      }));
      await until(() => origin.requests.length === 20, "20 requests");
      await pause(20);
      client.destroy(reason);
      assert.deepEqual(tally(await within(outcomes, "all")), { CLIENT_CLOSED: 50 });
      assert.equal(await failureOf(client.fetch(origin.url)), "CLIENT_CLOSED");
      await until(() => origin.listener.sockets.size === 0, "the end of all sockets");
      await until(() => client.stats().connections === 0, "no connections");
      assert.deepEqual([client.stats().active, client.stats().queued, client.stats().connecting], [0, 0, 0]);
      await within(client.close(), "close()");
    } finally {
      client.destroy();
      await origin.stop();
    }
  });

  test(`connections that are not used are closed after idleTimeout (${protocol})`, () =>
    trial(protocol, { onRequest: echoPath, client: { idleTimeout: 50 } }, async (scene) => {
      await checkEchoes(burst(scene, 10));
      await until(() => scene.origin.listener.sockets.size === 0, "the end of all sockets");
      await until(() => scene.client.stats().connections === 0, "no connections");
      await checkEchoes(burst(scene, 10));
    }));

  test(`a process whose client was never closed ends by itself (${protocol})`, async () => {
    const hangs = (path: string): boolean => path === "/hang";
    const origin = await new Origin(protocol).start();
    origin.onRequest = (request) => hangs(request.path) ? undefined : echoPath(request);
    const closed = await new Origin(protocol).start();
    await closed.stop();
    const child = new Child(new URL("leaves_by_itself.ts", import.meta.url), [origin.url, closed.url]);
    try {
      const words = (await within(child.line(), "the outcomes")).split(" ");
      assert.deepEqual(tally(words), { "/path": 10, CONNECTION_REFUSED: 10, TimeoutError: 1 });
      assert.equal(await within(child.ended, "the end of the process"), 0);
      assert.deepEqual(origin.violations, []);
    } finally {
      child.kill();
      await origin.stop();
    }
  });

  test(`a server's process that is killed loses its requests, and its successor on that port gets new ones (${protocol})`, async () => {
    const first = new Child(originProcess, [protocol]);
    let second: Child | undefined;
    const client = newClient({});
    try {
      const port = await within(first.line(), "the port");
      const url = `https://127.0.0.1:${port}`.replace("https", protocol === "h2" ? "https" : "http");
      assert.equal(await (await client.fetch(`${url}/there`)).text(), "/there");
      const stuck = await client.fetch(`${url}/stuck`);
      const lost = Array.from({ length: 10 }, () => client.fetch(`${url}/hang`, { method: "POST", body: "once" }));
      const outcomes = Promise.all([...lost.map(outcomeOf), failureOf(stuck.text())]);
      await until(() => {
        const { active, connecting, queued } = client.stats();
        return active === 11 && connecting === 0 && queued === 0;
      }, "requests under way");
      await pause(50);
      first.kill();
      assert.deepEqual(tally(await within(outcomes, "all")), { CONNECTION_LOST: 11 });
      await first.ended;
      assert.equal(await failureOf(client.fetch(`${url}/nobody`)), "CONNECTION_REFUSED");
      second = new Child(originProcess, [protocol, port]);
      await within(second.line(), "the port");
      const texts = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => (await client.fetch(`${url}/${index}`)).text()),
      );
      assert.deepEqual(texts, texts.map((_, index) => `/${index}`));
      await within(client.close(), "close()");
    } finally {
      client.destroy();
      first.kill();
      second?.kill();
    }
  });
}

test("a server's process that is frozen is found by PING, and used again when it has woken up", async () => {
  const server = new Child(originProcess, ["h2c"]);
  const client = newClient({ h2c: true, pingInterval: 50, pingTimeout: 1500, retries: 0 });
  try {
    const url = `http://127.0.0.1:${await within(server.line(), "the port")}`;
    assert.equal(await (await client.fetch(`${url}/there`)).text(), "/there");
    const stuck = await client.fetch(`${url}/stuck`);
    const lost = [
      failureOf(stuck.text()),
      ...Array.from({ length: 10 }, () => failureOf(client.fetch(`${url}/hang`, { method: "POST", body: "once" }))),
    ];
    await until(() => client.stats().active === 11, "requests under way");
    await pause(50);
    server.freeze();
    assert.deepEqual(tally(await within(Promise.all(lost), "all")), { CONNECTION_STALE: 11 });
    // The system still takes connections for it.
    assert.equal(await within(failureOf(client.fetch(`${url}/there`)), "another"), "CONNECTION_STALE");
    server.wakeUp();
    assert.equal(await (await client.fetch(`${url}/awake`)).text(), "/awake");
    await within(client.close(), "close()");
  } finally {
    client.destroy();
    server.kill();
  }
});
