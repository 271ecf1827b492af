import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { WriteBatch } from "../../lib/files/write_batch.ts";
import { tries } from "../support/long_run.ts";
import { randomNumbers } from "../support/random_numbers.ts";

const large = new Uint8Array(20_000).fill(1);

test("WriteBatch joins small items, and leaves large ones where they are", () => {
  const gathered = new WriteBatch();
  gathered.fill(["a", "é", new Uint8Array([3]), large, "b", large, large], 0, Infinity);
  assert.deepEqual([gathered.next, gathered.length, gathered.isLimited], [7, 60_005, false]);
  const [first, second, third, ...rest] = gathered.pieces;
  assert.deepEqual([...first], [97, 0xc3, 0xa9, 3]);
  assert.deepEqual([...third], [98]);
  for (const piece of [second, ...rest]) assert.equal(piece, large);
});

test("WriteBatch takes what the limit has room for, and says when it left an item out", () => {
  const gathered = new WriteBatch();
  gathered.fill(["ab", "cd", "é", "f"], 1, 4);
  assert.deepEqual([gathered.next, gathered.length, gathered.isLimited], [3, 4, true]);
  gathered.fill(["ab", large], 0, 20_001);
  assert.deepEqual([gathered.next, gathered.length, gathered.isLimited], [1, 2, true]);
  gathered.fill(["ab", large], 0, 20_002);
  assert.deepEqual([gathered.next, gathered.length, gathered.isLimited], [2, 20_002, false]);
  gathered.fill(["ab"], 0, 1);
  assert.deepEqual([gathered.next, gathered.length, gathered.pieces], [0, 0, []]);
});

test("WriteBatch encodes each string for itself, however many are joined, and never passes the limit", () => {
  const encoder = new TextEncoder();
  const units = ["a", "ü", "€", "\ud83d", "\ude00", "😀"];
  for (let seed = 1; seed <= tries(200); seed++) {
    const below = randomNumbers(seed);
    const items = Array.from({ length: 1 + below(300) }, () => {
      const text = Array.from({ length: below(3) * below(60) }, () => units[below(units.length)]).join("");
      return below(9) === 0 ? encoder.encode(text) : below(60) === 0 ? text.repeat(200) : text;
    });
    const bytes = items.map((item) => typeof item === "string" ? encoder.encode(item) : item);
    const limit = below(2) === 0 ? Infinity : Math.max(...bytes.map(({ length }) => length)) + below(20_000);
    const gathered = new WriteBatch();
    const taken: number[] = [];
    for (let next = 0; next < items.length; next = gathered.next) {
      gathered.fill(items, next, limit);
      assert.ok(gathered.next > next && gathered.length <= limit, `seed ${seed}`);
      const before = taken.length;
      for (const piece of gathered.pieces) for (const byte of piece) taken.push(byte);
      assert.equal(gathered.length, taken.length - before);
    }
    assert.ok(Buffer.from(taken).equals(Buffer.concat(bytes)), `seed ${seed}`);
  }
});

test("WriteBatch looks at each string a few times, whatever halves of surrogate pairs are among them", () => {
  for (const units of [["\ud83d", "\ude00"], ["\ude00"], ["a", "\ude00", "", "\ud83d", "", "\ude00", "b"]]) {
    let looks = 0;
    const items = Array.from({ length: 20_000 }, (_, i) => units[i % units.length]);
    const watched = new Proxy(items, {
      get(target, name) {
        if (name !== "length") looks++;
        return Reflect.get(target, name);
      },
    });
    const gathered = new WriteBatch();
    for (let next = 0; next < items.length; next = gathered.next) gathered.fill(watched, next, Infinity);
    assert.ok(looks < 4 * items.length, `${looks} looks at ${JSON.stringify(units)}`);
  }
});

test("WriteBatch never has more pieces than a system takes at once", () => {
  const items = Array.from({ length: 5000 }, (_, i) => i % 2 === 0 ? large : "small");
  const gathered = new WriteBatch();
  let length = 0;
  for (let next = 0; next < items.length; next = gathered.next) {
    gathered.fill(items, next, Infinity);
    assert.ok(gathered.pieces.length <= 1024);
    length += gathered.length;
  }
  assert.equal(length, 2500 * 20_005);
});

test("WriteBatch keeps no item when it is cleared", () => {
  const gathered = new WriteBatch();
  gathered.fill([large, "a"], 0, Infinity);
  gathered.clear();
  assert.deepEqual([gathered.pieces, gathered.length], [[], 0]);
});
