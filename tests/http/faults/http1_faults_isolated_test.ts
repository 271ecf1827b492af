import assert from "node:assert/strict";
import type { HttpRequestInit } from "../../../lib/http/mod.ts";
import { Buffer } from "node:buffer";
import test from "node:test";
import { pause, until } from "../../support/waits.ts";
import { respond, type ServerRequest, whenWhole } from "./server_request.ts";

import { burst, checkEchoes, echoPath, failureOf, outcomeOf, pattern, settled, tally, trial } from "./trial.ts";

const post = (): HttpRequestInit => ({ method: "POST", body: "once" });

/** Ends the socket with a reset, not with an orderly end, where the runtime can. */
function crash(request: ServerRequest): void {
  request.socket.resetAndDestroy();
}

for (const protocol of ["http/1.1", "http/1.1 over TLS"] as const) {
  test(`the end of the socket before the headers: GETs are sent again, POSTs fail with CONNECTION_LOST (${protocol})`, () =>
    trial(protocol, {}, async (scene) => {
      const { origin } = scene;
      const responses = burst(scene, 40, (index) => (index % 2 ? post() : {}));
      await until(() => origin.requests.length === 40, "40 requests");
      const acted = origin.requests.map(({ path }) => path);
      origin.onRequest = (request) => {
        acted.push(request.path);
        echoPath(request);
      };
      origin.listener.cut();
      const outcomes = await Promise.all(responses.map(outcomeOf));
      outcomes.forEach((outcome, index) => assert.equal(outcome, index % 2 ? "CONNECTION_LOST" : "ok"));
      const seen = tally(acted);
      outcomes.forEach((_, index) => assert.equal(seen[`/${index}`], index % 2 ? 1 : 2));
    }));

  test(`bodies that are cut, by length, by chunks or within a chunk's size, fail with CONNECTION_LOST (${protocol})`, () =>
    trial(protocol, {}, async (scene) => {
      const { origin } = scene;
      origin.onRequest = (request) => {
        origin.requests.push(request);
        const kind = Number(request.path.slice(1)) % 3;
        if (kind === 0) {
          request.head(200, { "content-length": "1000" });
          request.data(pattern.subarray(0, 999));
        } else {
          request.head(200);
          request.data(pattern.subarray(0, 1000));
          if (kind === 2) request.socket.write("3e");
        }
        setTimeout(() => request.socket.end(), 5);
      };
      const outcomes = await Promise.all(burst(scene, 30).map(outcomeOf));
      assert.deepEqual(tally(outcomes), { CONNECTION_LOST: 30 });
      assert.equal(origin.requests.length, 30, "nothing is sent again once headers are there");
    }));

  test(`a server that closes each socket just after its answer: GETs never fail, no POST is done twice (${protocol})`, () =>
    trial(protocol, { client: { connections: 8, retries: 10 } }, async (scene) => {
      const { origin } = scene;
      const acted: string[] = [];
      origin.onRequest = (request) => {
        acted.push(request.path);
        echoPath(request);
        const fate = acted.length % 9;
        if (fate === 0) request.socket.end();
        else if (fate === 1) setTimeout(() => request.socket.end(), acted.length % 4);
        else if (fate === 2) setTimeout(() => request.socket.destroy(), acted.length % 4);
      };
      const outcomes: string[] = [];
      for (let round = 0; round < 20; round++) {
        const responses = Array.from(
          { length: 16 },
          (_, index) => scene.client.fetch(scene.url(`/${round}-${index}`), { ...(index % 2 ? post() : {}) }),
        );
        outcomes.push(...await Promise.all(responses.map(outcomeOf)));
        await pause(round % 3);
      }
      const seen = tally(acted);
      outcomes.forEach((outcome, at) => {
        const path = `/${Math.floor(at / 16)}-${at % 16}`;
        if (at % 2 === 0) assert.equal(outcome, "ok", path);
        else {
          assert.ok(outcome === "ok" || outcome === "CONNECTION_LOST", `${path}: ${outcome}`);
          assert.ok((seen[path] ?? 0) <= 1, `${path} was done ${seen[path]} times`);
          if (outcome === "ok") assert.equal(seen[path], 1);
        }
      });
    }));
}

test("a server that is killed refuses connections until it is there again, and then is used again", () =>
  trial("http/1.1", { client: { connections: 10 } }, async (scene) => {
    const { origin, client } = scene;
    const outcomes = Promise.all(burst(scene, 30, post).map(outcomeOf));
    await until(() => origin.requests.length === 10, "10 requests");
    await origin.stop();
    // The ten that were sent are lost; requests that waited find no server.
    assert.deepEqual(tally(await outcomes), { CONNECTION_LOST: 10, CONNECTION_REFUSED: 20 });
    assert.equal(client.stats().queued, 0);
    await origin.start();
    origin.onRequest = echoPath;
    await checkEchoes(burst(scene, 30, post));
  }));

test("a request does not wait for ever behind a connection that is busy, when another one is refused", () =>
  trial("http/1.1", { client: { connectTimeout: 200 } }, async (scene) => {
    const { origin, client } = scene;
    origin.onRequest = (request) => {
      if (request.path !== "/endless") return echoPath(request);
      request.head(200);
      request.data(pattern.subarray(0, 100));
    };
    const endless = await client.fetch(scene.url("/endless"));
    origin.listener.close();
    const refused = outcomeOf(client.fetch(scene.url("/0")));
    assert.equal(await refused, "CONNECTION_REFUSED");
    await origin.start();
    await checkEchoes(burst(scene, 3));
    await endless.body?.cancel();
  }));

test("a socket that is reset is as lost as one that ends", () =>
  trial("http/1.1", {}, async (scene) => {
    const { origin } = scene;
    let isHostile = true;
    origin.onRequest = (request) => {
      if (isHostile) crash(request);
      else echoPath(request);
    };
    assert.deepEqual(tally(await Promise.all(burst(scene, 10, post).map(outcomeOf))), { CONNECTION_LOST: 10 });
    assert.deepEqual(tally(await Promise.all(burst(scene, 10).map(outcomeOf))), { CONNECTION_LOST: 10 });
    isHostile = false;
    await checkEchoes(burst(scene, 10));
  }));

test("the server's answer to a body that it does not want to have is received, and the body ends", () =>
  trial("http/1.1", {}, async (scene) => {
    scene.origin.onRequest = (request) => respond(request, 413, Buffer.from("too large"), { connection: "close" });
    let cancelled = 0;
    const responses = burst(scene, 10, () => ({
      method: "POST",
      duplex: "half",
      body: new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1000)),
        cancel: () => void cancelled++,
      }, { highWaterMark: 0 }),
    }));
    for (const response of responses) {
      assert.equal((await response).status, 413);
      assert.equal(await (await response).text(), "too large");
    }
    await until(() => cancelled === 10, "the sources' cancel()");
  }));

test("a response without length or chunks ends with its socket, and the next request has another", () =>
  trial("http/1.1", { client: { connections: 1 } }, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      request.head(200, { connection: "close" });
      request.data(Buffer.from(request.path));
      request.end();
    };
    await checkEchoes(burst(scene, 10));
    assert.equal(origin.listener.accepted, 10);
  }));

test("aborts at any time end their sockets, and leave others alone", () =>
  trial("http/1.1", { client: { connections: 20 } }, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      const number = Number(request.path.slice(1));
      if (number % 3 === 0) return;
      if (number % 3 === 1) {
        request.head(200);
        request.data(pattern.subarray(0, 1000));
      } else setTimeout(() => echoPath(request), 5);
    };
    const reason = new Error("enough");
    const controllers = Array.from({ length: 90 }, () => new AbortController());
    const responses = burst(scene, 90, (index) => ({ signal: controllers[index].signal }));
    const outcomes = Promise.all(responses.map(async (response, index) => {
      try {
        return await (await response).text();
      } catch (error) {
        assert.equal(error, reason, `/${index}`);
        return "aborted";
      }
    }));
    controllers.forEach((controller, index) => {
      if (index % 3 !== 2) setTimeout(() => controller.abort(reason), index);
    });
    (await outcomes).forEach((outcome, index) => assert.equal(outcome, index % 3 === 2 ? `/${index}` : "aborted"));
    await settled(scene.client);
  }));

test("pipelined requests whose socket ends within the first answers are sent again, and only those that were not answered", () =>
  trial("http/1.1", { client: { connections: 1, pipelining: 10, retries: 10 } }, async (scene) => {
    const { origin } = scene;
    const acted: string[] = [];
    origin.onRequest = (request) => {
      acted.push(request.path);
      echoPath(request);
      if (acted.length % 7 === 0) request.socket.end();
    };
    await checkEchoes(burst(scene, 40));
    assert.equal(new Set(acted).size, 40);
  }));

test("a server that stops reading in the middle of a body holds up nobody else, and an abort ends it", () =>
  trial("http/1.1", {}, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      if (request.method === "POST") request.isHolding = true;
      else echoPath(request);
    };
    const abort = new AbortController();
    let pulled = 0;
    const stuck = scene.client.fetch(scene.url("/stuck"), {
      method: "POST",
      duplex: "half",
      signal: abort.signal,
      body: new ReadableStream({
        pull: (controller) => {
          pulled++;
          controller.enqueue(pattern);
        },
      }, { highWaterMark: 0 }),
    }).catch((error) => error);
    await pause(100);
    assert.ok(pulled > 0 && pulled < 50, `${pulled} MiB were taken from the source`);
    await checkEchoes(burst(scene, 10));
    abort.abort(new Error("enough"));
    assert.equal((await stuck).message, "enough");
    for (const socket of origin.listener.sockets) socket.resume();
  }));

test("headers that never end are LIMIT_EXCEEDED, and nonsense is PROTOCOL_ERROR", async () => {
  const floods: [string, (request: ServerRequest) => void][] = [
    ["LIMIT_EXCEEDED", ({ socket }) => socket.write(`HTTP/1.1 200 OK\r\n${"x-many: of them\r\n".repeat(6000)}`)],
    ["PROTOCOL_ERROR", ({ socket }) => socket.write("SSH-2.0-OpenSSH_9.9\r\n\r\n")],
    [
      "PROTOCOL_ERROR",
      ({ socket }) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx"),
    ],
  ];
  for (const [code, answer] of floods) {
    await trial("http/1.1", {}, async (scene) => {
      scene.origin.onRequest = answer;
      assert.equal(await failureOf(scene.client.fetch(scene.url("/"))), code);
    });
  }
});

test("a body that breaks while it is sent fails its request with BODY_FAILED, and the server knows", () =>
  trial("http/1.1", {}, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      origin.requests.push(request);
      whenWhole(request, () => echoPath(request));
    };
    const outcomes = await Promise.all(
      burst(scene, 20, (index) => ({
        method: "POST",
        body: (async function* () {
          for (let piece = 0; piece < 5; piece++) {
            yield pattern.subarray(0, 1000);
            await pause(1);
            if (index % 2 && piece === 3) throw new Error("the source is gone");
          }
        })(),
      })).map(outcomeOf),
    );
    outcomes.forEach((outcome, index) => assert.equal(outcome, index % 2 ? "BODY_FAILED" : "ok"));
    await until(() => origin.requests.filter(({ isGone }) => isGone).length === 10, "the end of what broke");
    assert.ok(origin.requests.every(({ isGone, isWhole }) => isGone !== isWhole));
  }));
