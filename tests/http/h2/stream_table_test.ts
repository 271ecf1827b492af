import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Http2Stream, StreamTable } from "../../../lib/http/h2/http2_stream.ts";
import { Answer } from "./opened_session.ts";

function stream(id: number): Http2Stream {
  return new Http2Stream(id, { onConsumed() {}, onCancel() {} }, new Answer(), 0, false);
}

/** Returns a table whose streams are open as soon as they are added. */
function openTable(): StreamTable {
  const table = new StreamTable(1);
  table.opened = Infinity;
  return table;
}

test("a table of streams holds what a Map would, whatever ends first", () => {
  fc.assert(fc.property(fc.array(fc.nat(300), { maxLength: 600 }), (steps) => {
    const table = openTable();
    const expected = new Map<number, Http2Stream>();
    for (const step of steps) {
      if (step % 3 > 0) {
        const added = stream(table.next);
        table.add(added);
        expected.set(added.id, added);
        continue;
      }
      const id = [...expected.keys()][step % Math.max(expected.size, 1)] ?? 1;
      table.delete(id);
      expected.delete(id);
    }
    assert.equal(table.size, expected.size);
    assert.deepEqual(table.all().map(({ id }) => id), [...expected.keys()]);
    for (let id = 1; id < table.next; id += 2) assert.equal(table.get(id), expected.get(id));
  }));
});

test("streams that last stay where they are while ids go round the table many times", () => {
  const table = openTable();
  const lasting = [stream(1), stream(3), stream(5)];
  for (const added of lasting) table.add(added);
  for (let i = 0; i < 10_000; i++) {
    const added = stream(table.next);
    table.add(added);
    assert.equal(table.get(added.id), added);
    table.delete(added.id);
    assert.equal(table.get(added.id), undefined);
  }
  for (const added of lasting) assert.equal(table.get(added.id), added);
  assert.equal(table.size, 3);
});
