import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../../support/runtime.ts";
import { type Cell, cellsOf, differences, type Kinds, type Places, type States } from "./cells.ts";
import { known } from "./known.ts";
import { bodies, bunPlaces, methods, nodeModules } from "./readable_places.ts";
import { readables, readableStates } from "./readables.ts";
import { transformPlaces, transforms, transformStates } from "./transforms.ts";
import { writablePlaces, writables, writableStates } from "./writables.ts";

/** Declares a test for each place. */
function compare<Stream>(what: string, kinds: Kinds<Stream>, states: States<Stream>, places: Places<Stream>): Cell[] {
  return Object.entries(places).flatMap(([place, take]) => {
    const cells = cellsOf(kinds, states, { [place]: take });
    test(`${place} does with ${what} what it does with the runtime's own`, async () => {
      assert.deepEqual((await differences(cells, known)).unknown, {});
    });
    return cells;
  });
}

const cells = [
  ...compare("readable streams", readables, readableStates, bodies),
  ...compare("readable streams", readables, readableStates, methods),
  ...compare("readable streams", readables, readableStates, nodeModules),
  ...(runtime === "bun" ? compare("readable streams", readables, readableStates, bunPlaces) : []),
  ...compare("writable streams", writables, writableStates, writablePlaces),
  ...compare("transform streams", transforms, transformStates, transformPlaces),
];

test("at least 1,200 cells are compared", () => {
  assert.ok(cells.length >= 1200, `${cells.length}`);
});
