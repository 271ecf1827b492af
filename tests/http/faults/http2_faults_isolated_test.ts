import assert from "node:assert/strict";
import type { HttpRequestInit } from "../../../lib/http/mod.ts";
import { Buffer } from "node:buffer";
import test from "node:test";
import { pause, until } from "../../support/waits.ts";
import { ErrorCode, Setting } from "./http2_frames.ts";
import type { Http2PeerStream } from "./http2_peer_stream.ts";
import { respond, type ServerRequest, whenWhole } from "./server_request.ts";
import {
  burst,
  checkEchoes,
  echoPath,
  failureOf,
  outcomeOf,
  pattern,
  settled,
  tally,
  type Trial,
  trial,
} from "./trial.ts";

const post = (): HttpRequestInit => ({ method: "POST", body: "once" });

async function arrived({ origin }: Trial, count: number): Promise<ServerRequest[]> {
  await until(() => origin.requests.length >= count, `${count} requests at the server`);
  return origin.requests.slice(0, count);
}

/** Returns the number of times that the server saw each path. */
function sightings({ origin }: Trial): Record<string, number> {
  return tally(origin.requests.map((request) => request.path)) as Record<string, number>;
}

const idOf = (request: ServerRequest): number => (request as Http2PeerStream).id;

test("GOAWAY in the middle of a burst of POSTs: those above its last stream go to a new session, none is done twice", () =>
  trial("h2", {}, async (scene) => {
    const responses = burst(scene, 100, post);
    const first = await arrived(scene, 100);
    const { origin } = scene;
    origin.peer.goaway(idOf(first[49]));
    await until(() => origin.requests.length === 150, "the rest on a new session");
    const second = origin.requests.slice(100);
    assert.deepEqual(new Set(second.map((request) => request.path)), new Set(first.slice(50).map(({ path }) => path)));
    assert.ok(second.every((request) => request.socket !== first[0].socket));
    for (const request of [...first.slice(0, 50), ...second]) whenWhole(request, () => echoPath(request));
    await checkEchoes(responses);
    assert.equal(origin.requests.length, 150);
  }));

test("a server that shuts down in two steps loses no request of a burst that goes on", () =>
  trial("h2", {}, async (scene) => {
    const { origin } = scene;
    const handle = origin.onRequest;
    origin.onRequest = (request) => {
      handle(request);
      setTimeout(() => echoPath(request), 5);
      if (origin.requests.length % 100 === 50) void origin.peer.shutDown();
    };
    const responses: Promise<Response>[] = [];
    for (let index = 0; index < 400; index++) {
      responses.push(scene.client.fetch(scene.url(`/${index}`), post()));
      if (index % 10 === 9) await pause(1);
    }
    await checkEchoes(responses);
    assert.ok(origin.peers.length > 2, `${origin.peers.length} sessions`);
    // A session that got a GOAWAY is closed by the client once its requests have ended.
    await until(() => origin.listener.sockets.size <= 1, "the end of old sessions");
    const answered = origin.requests.filter((request) => !request.isGone).map(({ path }) => path);
    assert.equal(new Set(answered).size, answered.length, "no request was acted on twice");
  }));

test("GOAWAY with an error and the end of the socket: what the server may have acted on is only repeated if that is safe", () =>
  trial("h2c", {}, async (scene) => {
    const { origin } = scene;
    const responses = burst(scene, 40, (index) => (index % 2 ? post() : {}));
    const first = await arrived(scene, 40);
    const last = idOf(first[19]);
    origin.onRequest = (request) => {
      origin.requests.push(request);
      echoPath(request);
    };
    origin.peer.goaway(last, ErrorCode.enhanceYourCalm);
    await pause(5);
    origin.peer.socket.destroy();
    const outcomes = await Promise.all(responses.map(outcomeOf));
    const seen = sightings(scene);
    for (const [index, request] of first.entries()) {
      const wasUntouched = index > 19;
      const isPost = request.method === "POST";
      const expected = isPost && !wasUntouched ? "CONNECTION_LOST" : "ok";
      assert.equal(outcomes[index], expected, `${request.method} ${request.path}`);
      assert.equal(seen[request.path], expected === "ok" ? 2 : 1);
    }
  }));

test("REFUSED_STREAM is tried again whatever the method, and no caller sees it", () =>
  trial("h2", {}, async (scene) => {
    const { origin } = scene;
    let acted = 0;
    origin.onRequest = (request) => {
      origin.requests.push(request);
      if (sightings(scene)[request.path] <= 2) return request.reset(ErrorCode.refusedStream);
      acted++;
      echoPath(request);
    };
    await checkEchoes(burst(scene, 50, (index) => (index % 2 ? post() : {})));
    assert.equal(acted, 50);
    assert.equal(scene.client.stats().retries, 100);
    assert.equal(origin.listener.accepted, 1);
  }));

test("a server that refuses everything, session by session, is not asked for ever", () =>
  trial("h2", {}, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      origin.requests.push(request);
      request.reset(ErrorCode.refusedStream);
      setTimeout(() => request.socket.destroy(), 5);
    };
    const outcomes = await Promise.all(burst(scene, 10, post).map(outcomeOf));
    for (const outcome of outcomes) assert.ok(outcome === "REFUSED" || outcome === "CONNECTION_LOST", outcome);
    assert.ok(origin.requests.length <= 100, `${origin.requests.length} attempts`);
  }));

for (const code of ["cancel", "internal", "enhanceYourCalm"] as const) {
  test(`a storm of RST_STREAM (${code}) fails those it hits with RESET, and no others; POSTs are not sent twice`, () =>
    trial("h2", { settings: { [Setting.maxConcurrentStreams]: 20 }, client: { connections: 1 } }, async (scene) => {
      const { origin } = scene;
      origin.onRequest = (request) => {
        origin.requests.push(request);
        const number = Number(request.path.slice(1));
        if (number % 4 === 1) request.reset(ErrorCode[code]);
        else if (number % 4 === 2) {
          request.head(200, { "content-length": "1000" });
          request.data(pattern.subarray(0, 500));
          request.reset(ErrorCode[code]);
        } else echoPath(request);
      };
      const responses = burst(scene, 200, post);
      const outcomes = await Promise.all(responses.map(outcomeOf));
      outcomes.forEach((outcome, index) => assert.equal(outcome, index % 4 === 1 || index % 4 === 2 ? "RESET" : "ok"));
      assert.ok(Object.values(sightings(scene)).every((times) => times === 1));
      assert.deepEqual([origin.listener.accepted, origin.streams], [1, 0]);
    }));
}

test("the end of the socket before the headers: GETs are sent again, POSTs fail with CONNECTION_LOST", () =>
  trial("h2", {}, async (scene) => {
    const { origin } = scene;
    const responses = burst(scene, 60, (index) => (index % 2 ? post() : {}));
    await arrived(scene, 60);
    origin.onRequest = (request) => {
      origin.requests.push(request);
      echoPath(request);
    };
    origin.listener.cut();
    const outcomes = await Promise.all(responses.map(outcomeOf));
    outcomes.forEach((outcome, index) => assert.equal(outcome, index % 2 ? "CONNECTION_LOST" : "ok"));
    const seen = sightings(scene);
    outcomes.forEach((_, index) => assert.equal(seen[`/${index}`], index % 2 ? 1 : 2));
  }));

for (const limit of [undefined, 1, 100]) {
  test(`a GET whose session is cut after a GOAWAY is sent again, though newer sessions are open that allow ${limit ?? "any number"}`, () =>
    trial("h2", {
      settings: limit === undefined ? {} : { [Setting.maxConcurrentStreams]: limit },
      client: { queueTimeout: 5000 },
    }, async (scene) => {
      const { origin } = scene;
      const hold = origin.onRequest;
      origin.onRequest = echoPath;
      await (await scene.client.fetch(scene.url("/"))).text(); // the session is one that was kept
      origin.onRequest = hold;
      const response = scene.client.fetch(scene.url("/0"));
      await arrived(scene, 1);
      const [peer] = origin.peers;
      await peer.shutDown();
      origin.onRequest = echoPath;
      assert.equal(await (await scene.client.fetch(scene.url("/1"))).text(), "/1");
      peer.socket.destroy();
      await checkEchoes([response]);
    }));
}

test("a POST that says idempotent is sent again when its connection is lost", () =>
  trial("h2", {}, async (scene) => {
    const { origin } = scene;
    const response = scene.client.fetch(scene.url("/0"), { ...post(), idempotent: true });
    await arrived(scene, 1);
    origin.onRequest = echoPath;
    origin.listener.cut();
    await checkEchoes([response]);
  }));

test("the end of the socket after the headers or within the body fails the body, and nothing is sent again", () =>
  trial("h2", {}, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      origin.requests.push(request);
      request.head(200, { "content-length": "100000" });
      if (Number(request.path.slice(1)) % 2) request.data(pattern.subarray(0, 50_000));
    };
    const responses = await Promise.all(burst(scene, 20));
    await pause(10);
    const bodies = responses.map((response) => failureOf(response.arrayBuffer()));
    origin.listener.cut();
    assert.deepEqual(tally(await Promise.all(bodies)), { CONNECTION_LOST: 20 });
    assert.equal(origin.requests.length, 20);
  }));

test("a server that is killed refuses connections until it is there again, and then is used again", () =>
  trial("h2", {}, async (scene) => {
    const { origin, client } = scene;
    const outcomes = Promise.all(burst(scene, 30, post).map(outcomeOf));
    await arrived(scene, 30);
    await origin.stop();
    assert.deepEqual(tally(await outcomes), { CONNECTION_LOST: 30 });
    const down = await Promise.all(burst(scene, 30).map(outcomeOf));
    assert.deepEqual(tally(down), { CONNECTION_REFUSED: 30 });
    assert.equal(client.stats().queued, 0);
    await origin.start();
    origin.onRequest = echoPath;
    await checkEchoes(burst(scene, 30, post));
  }));

test("a body that goes up meets the end of the socket: BODY or CONNECTION_LOST at once, and its source is cancelled", () =>
  trial("h2", {}, async (scene) => {
    let cancelled = 0;
    const responses = burst(scene, 10, () => ({
      method: "POST",
      duplex: "half",
      body: new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1000)),
        cancel: () => void cancelled++,
      }, { highWaterMark: 0 }),
    }));
    await arrived(scene, 10);
    await until(() => scene.origin.requests.every(({ received }) => received > 5000), "some of each body");
    scene.origin.listener.cut();
    assert.deepEqual(tally(await Promise.all(responses.map(outcomeOf))), { CONNECTION_LOST: 10 });
    await until(() => cancelled === 10, "the sources' cancel()");
  }));

test("INITIAL_WINDOW_SIZE that drops to 0 while bodies go up, and rises again, loses no byte", () =>
  trial("h2", {}, async (scene) => {
    const { origin } = scene;
    const size = 300_000;
    const bodies = burst(scene, 20, () => ({ method: "POST", body: pattern.subarray(0, size) }));
    for (const request of await arrived(scene, 20)) {
      whenWhole(request, () => respond(request, 200, Buffer.from(`${request.sum}`)));
    }
    const { peer } = origin;
    for (const window of [0, 100, 0, 70_000, 1]) {
      await peer.settings({ [Setting.initialWindowSize]: window });
      await pause(5);
    }
    // Streams whose window is below 0 now have to wait for WINDOW_UPDATE, or for these SETTINGS.
    await peer.settings({ [Setting.initialWindowSize]: 1_000_000 });
    let sum = 0;
    for (const byte of pattern.subarray(0, size)) sum += byte;
    for (const response of bodies) assert.equal(await (await response).text(), String(sum));
  }));

test("one of 100 streams that nobody reads holds nobody up, and is whole when it is read at last", () =>
  trial("h2", { client: { connections: 1, streamWindow: 65_536 } }, async (scene) => {
    const { origin, client } = scene;
    origin.onRequest = (request) => {
      origin.requests.push(request);
      respond(request, 200, request.path === "/slow" ? pattern : pattern.subarray(0, 200_000));
    };
    const slow = await client.fetch(scene.url("/slow"));
    const sizes = await Promise.all(burst(scene, 99).map(async (response) => (await (await response).bytes()).length));
    assert.deepEqual(tally(sizes.map(String)), { "200000": 99 });
    const { backlog } = origin.requests[0];
    assert.ok(backlog >= pattern.length - 65_536, `${backlog} bytes wait at the server`);
    assert.equal(client.stats().active, 1);
    assert.ok(Buffer.from(await slow.arrayBuffer()).equals(pattern));
  }));

test("many bodies that nobody reads do not take the connection's window from those that are read", () =>
  trial("h2", { client: { connections: 1, streamWindow: 65_536 } }, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      origin.requests.push(request);
      respond(request, 200, pattern);
    };
    const unread = await Promise.all(burst(scene, 50));
    const read = await scene.client.fetch(scene.url("/read"));
    assert.equal((await read.arrayBuffer()).byteLength, pattern.length);
    for (const response of unread) await response.body?.cancel();
    await settled(scene.client);
    await until(() => origin.streams === 0, "the end of all streams at the server");
  }));

test("aborts at any time free their slots, reset their streams, and leave others alone", () =>
  trial("h2", { settings: { [Setting.maxConcurrentStreams]: 10 }, client: { connections: 1 } }, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      origin.requests.push(request);
      const number = Number(request.path.slice(1));
      if (number % 3 === 0) return; // never answered: only aborted
      if (number % 3 === 1) {
        request.head(200);
        request.data(pattern.subarray(0, 1000)); // never ends
      } else setTimeout(() => echoPath(request), 5);
    };
    const controllers = Array.from({ length: 150 }, () => new AbortController());
    const reason = new Error("enough");
    const responses = burst(scene, 150, (index) => ({ signal: controllers[index].signal }));
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
    await until(() => origin.streams === 0, "RST_STREAM of what was aborted");
    assert.ok(
      origin.requests.every((request) =>
        [undefined, ErrorCode.cancel as number].includes((request as Http2PeerStream).resetCode)
      ),
    );
    assert.deepEqual([origin.listener.accepted, origin.peer.excess], [1, 0]);
  }));

test("a response that is complete before the request's body is ends the body, not the response", () =>
  trial("h2", {}, async (scene) => {
    const { origin } = scene;
    origin.onRequest = (request) => {
      origin.requests.push(request);
      echoPath(request);
      if (request.path !== "/0") request.reset(ErrorCode.none);
    };
    let cancelled = 0;
    const responses = burst(scene, 20, () => ({
      method: "POST",
      duplex: "half",
      body: new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
        cancel: () => void cancelled++,
      }, { highWaterMark: 0 }),
    }));
    await checkEchoes(responses);
    await until(() => cancelled >= 19, "the sources' cancel()");
    origin.requests.find(({ path }) => path === "/0")!.reset(ErrorCode.none);
  }));

test("a body that breaks while it is sent fails its request with BODY_FAILED, and the server knows", () =>
  trial("h2", {}, async (scene) => {
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
