import assert from "node:assert/strict";
import test from "node:test";
import { ConnectionSet, type PooledConnection, type WaitingRequest } from "../../../lib/http/origin/connection_pool.ts";

/** A connection as far as a set sees it. */
interface Fake {
  readonly connection: {
    protocol: "h2" | "http/1.1";
    free: number;
    closing: boolean;
    active: number;
    peerMaxConcurrentStreams: number | undefined;
    restsUntil: number;
  };
  ready: boolean;
  takes: (request: WaitingRequest) => boolean;
}

function pooled(state: Partial<Fake["connection"]> = {}, of: Partial<Fake> = {}): PooledConnection & Fake {
  const defaults = { protocol: "h2", free: 1, closing: false, active: 0, peerMaxConcurrentStreams: 100, restsUntil: 0 };
  const connection = { ...defaults, ...state };
  const fake = { connection, ready: false, takes: () => true, ...of };
  return fake as unknown as PooledConnection & Fake;
}

const request = {} as WaitingRequest;

function setOf(...connections: PooledConnection[]): ConnectionSet {
  const set = new ConnectionSet();
  for (const each of connections) {
    set.add(each);
    set.onReady(each);
  }
  return set;
}

test("ConnectionSet finds the connection that had room last, and one that is full only once it has room again", () => {
  const [older, newer] = [pooled(), pooled()];
  const set = setOf(older, newer);
  assert.equal(set.find(request), newer);
  newer.connection.free = 0;
  assert.equal(set.find(request), older);
  newer.connection.free = 1;
  assert.equal(set.find(request), older);
  set.onReady(newer);
  set.onReady(newer); // twice is once
  assert.equal(set.find(request), newer);
  newer.connection.free = older.connection.free = 0;
  assert.equal(set.find(request), undefined);
  set.onReady(older); // it is full
  assert.equal(older.ready, false);
});

test("ConnectionSet passes over connections that do not take a request, and forgets those that close", () => {
  const [any, none] = [pooled(), pooled({}, { takes: () => false })];
  const set = setOf(any, none);
  assert.equal(set.find(request), any);
  set.onClosing(any);
  assert.equal(set.find(request), undefined);
  assert.deepEqual([set.open, set.size, any.ready], [1, 2, false]);
  set.delete(any);
  assert.deepEqual([set.open, set.size], [1, 1]);
  set.onClosing(pooled()); // one that is not ready
  assert.equal(none.ready, true);
});

test("ConnectionSet gives one that has rested, and tells when the first that rests will have", () => {
  const soon = performance.now() + 60_000;
  const [rested, resting] = [pooled({ restsUntil: 1 }), pooled({ restsUntil: soon + 1 })];
  const set = setOf(pooled({ restsUntil: soon }), rested, resting);
  assert.equal(set.find(request), rested);
  assert.equal(set.restsUntil, 0);
  rested.connection.free = 0;
  assert.equal(set.find(request), undefined);
  assert.equal(set.restsUntil, soon);
});

test("ConnectionSet gives the one whose rest ends first if no other may be opened, or enough rest for a request that may be lost", () => {
  const soon = performance.now() + 60_000;
  const all = Array.from({ length: 8 }, (_, i) => pooled({ restsUntil: soon + (i + 3) % 8 }));
  const few = setOf(...all.slice(0, 7));
  assert.equal(few.find(request, true), undefined);
  assert.equal(few.find(request, false)!.connection.restsUntil, soon);
  const enough = setOf(...all.map((each) => Object.assign(each, { ready: false })));
  assert.equal(enough.find(request, true), undefined);
  assert.equal(enough.find({ pipelinable: true } as WaitingRequest, true)!.connection.restsUntil, soon);
});

test("ConnectionSet awaits settings of open sessions alone", () => {
  const unknown = { peerMaxConcurrentStreams: undefined };
  assert.equal(setOf(pooled(unknown)).awaitsSettings, true);
  assert.equal(setOf(pooled({ ...unknown, closing: true }), pooled()).awaitsSettings, false);
  assert.equal(setOf(pooled({ ...unknown, protocol: "http/1.1" })).awaitsSettings, false);
});

test("ConnectionSet counts connections, sessions and requests", () => {
  const set = setOf(pooled({ active: 3 }), pooled({ protocol: "http/1.1", active: 1 }));
  assert.deepEqual(set.counts(), { connections: 2, sessions: 1, active: 4 });
});
