import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { RequestQueue, type WaitingRequest, type WaitingRoom } from "../../../lib/http/origin/connection_pool.ts";

const room: WaitingRoom = { withdraw: () => assert.fail("nobody withdraws by itself") };

function request(): WaitingRequest {
  return {
    context: undefined,
    previousWaiting: undefined,
    nextWaiting: undefined,
    waitingAt: undefined,
    pipelinable: false,
    newerThan: 0,
    startOn: () => assert.fail("a list starts nothing"),
    fail: () => assert.fail("a list fails nothing"),
  };
}

/** Returns the requests of a list from its first on, whose links have to lead back as well. */
function listed(list: RequestQueue): WaitingRequest[] {
  const requests: WaitingRequest[] = [];
  for (let each = list.first; each !== undefined; each = each.nextWaiting) {
    assert.equal(each.previousWaiting, requests.at(-1));
    assert.equal(each.waitingAt, room);
    requests.push(each);
  }
  return requests;
}

test("RequestQueue keeps requests in their order, whichever come and leave at either end or between", () => {
  const steps = fc.array(fc.tuple(fc.constantFrom("push", "unshift", "remove"), fc.nat()), { maxLength: 60 });
  fc.assert(fc.property(steps, (steps) => {
    const list = new RequestQueue(room);
    const model: WaitingRequest[] = [];
    for (const [step, at] of steps) {
      if (step === "remove") {
        if (model.length === 0) continue;
        const [left] = model.splice(at % model.length, 1);
        list.remove(left);
        assert.deepEqual([left.previousWaiting, left.nextWaiting, left.waitingAt], [undefined, undefined, undefined]);
      } else {
        const one = request();
        list[step as "push" | "unshift"](one);
        model[step as "push" | "unshift"](one);
      }
      assert.equal(list.length, model.length);
      assert.equal(list.first, model[0]);
      assert.ok(listed(list).every((each, i) => each === model[i]));
    }
    for (const left of model) list.remove(left); // those that wait keep the process alive
  }));
});
