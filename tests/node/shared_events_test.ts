import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import test from "node:test";
import { follow, type Follower, leave } from "../../lib/node/shared_events.ts";

const EVENTS = ["error", "finish", "close"];

class Recorder implements Follower {
  isHeld = false;
  weak: WeakRef<Follower> | undefined = undefined;
  isIdle = false;
  readonly told: unknown[] = [];
  onError(error: unknown): void {
    this.told.push(error);
  }
  onEnd(): void {
    this.told.push("end");
  }
  onClose(): void {
    this.told.push("close");
  }
}

const counts = (emitter: EventEmitter): number[] => EVENTS.map((event) => emitter.listenerCount(event));

test("follow() tells all followers of an emitter by one listener for each event, until it has closed", () => {
  const emitter = new EventEmitter();
  const followers = [new Recorder(), new Recorder(), new Recorder()];
  for (const follower of followers) follow(emitter, "finish", follower);
  assert.deepEqual(counts(emitter), [1, 1, 1]);
  for (const event of EVENTS) emitter.emit(event, "failure");
  for (const { told } of followers) assert.deepEqual(told, ["failure", "end", "close"]);
  assert.deepEqual(counts(emitter), [0, 0, 0]);
});

test("follow() holds an idle follower weakly once another one comes, and tells it still", () => {
  const emitter = new EventEmitter();
  const [idle, used, last] = [new Recorder(), new Recorder(), new Recorder()];
  idle.isIdle = true;
  for (const follower of [idle, used, last]) follow(emitter, "finish", follower);
  assert.deepEqual([idle.isHeld, used.isHeld, last.isHeld], [false, true, true]);
  follow(emitter, "finish", idle); // it is used again
  assert.equal(idle.isHeld, true);
  emitter.emit("finish");
  for (const { told } of [idle, used, last]) assert.deepEqual(told, ["end"]);
});

test("leave() stops listening when the last follower has left", () => {
  const emitter = new EventEmitter();
  const [first, second] = [new Recorder(), new Recorder()];
  first.isIdle = true;
  for (const follower of [first, second]) follow(emitter, "finish", follower);
  leave(emitter, "finish", second);
  assert.deepEqual(counts(emitter), [1, 1, 1]);
  leave(emitter, "finish", first);
  assert.deepEqual(counts(emitter), [0, 0, 0]);
  follow(emitter, "finish", second);
  emitter.emit("finish");
  assert.deepEqual([first.told, second.told], [[], ["end"]]);
});

test("follow() keeps the followers of the two sides of a Duplex apart", () => {
  const emitter = new EventEmitter();
  const [writable, readable] = [new Recorder(), new Recorder()];
  follow(emitter, "finish", writable);
  follow(emitter, "end", readable);
  emitter.emit("end");
  assert.deepEqual([writable.told, readable.told], [[], ["end"]]);
});
