import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { ourModules, root } from "./module_graph.ts";

/** The most imports between rooms that may run back up: each is marked in the table. */
const BACK = 4;

interface Room {
  /** The rooms that its modules may import. */
  readonly rooms: readonly string[];
  /** The ones of them that stand below it in the table, and so above it in the house. */
  readonly back: readonly string[];
}

/** The rooms of `lib/streams`, from the ground up, as ARCHITECTURE.md has them. */
const rooms = roomsOf(readFileSync(join(root, "ARCHITECTURE.md"), "utf8"));

function roomsOf(page: string): Map<string, Room> {
  const [, table] = /^\| room [^\n]*\n\|[ -|]*\n((?:\|[^\n]*\n)+)/m.exec(page) ?? [];
  return new Map(
    [...table.matchAll(/^\| `(\w+)` +\|[^|\n]*\|([^|\n]*)\|$/gm)].map(([, room, cell]) => {
      const listed = cell.split(",").map((name) => name.trim()).filter((name) => name !== "");
      return [room, {
        rooms: listed.map((name) => name.replace(" (back)", "")),
        back: listed.filter((name) => name.endsWith(" (back)")).map((name) => name.replace(" (back)", "")),
      }];
    }),
  );
}

/** Returns the room of a module of `lib/streams`; empty for its faces, and for modules outside of rooms. */
function roomOf(path: string): string {
  return /^lib\/streams\/(\w+)\//.exec(path)?.[1] ?? "";
}

/** The rooms of other folders, from the ground up. */
const othersRooms: Readonly<Record<string, readonly string[]>> = {
  static: ["scan", "answer", "handler"],
  upload: ["body", "sink", "form", "session", "handler"],
};

const modules = ourModules().filter(({ path }) => path.startsWith("lib/streams/"));

test("every module of the streams is in a room, but for its faces", () => {
  assert.deepEqual([...rooms.keys()].sort(), [...new Set(modules.map(({ path }) => roomOf(path)))].sort().slice(1));
  const loose = modules.map(({ path }) => path).filter((path) => roomOf(path) === "");
  assert.deepEqual(loose, ["lib/streams/install.ts", "lib/streams/internal.ts", "lib/streams/mod.ts"]);
});

test("rooms import only the rooms that the table names, and each of those somewhere", () => {
  const found = new Map([...rooms.keys()].map((room) => [room, new Set<string>()]));
  for (const { path, imports } of modules) {
    for (const imported of imports) {
      if (roomOf(path) !== roomOf(imported)) found.get(roomOf(path))?.add(roomOf(imported));
    }
  }
  for (const [room, { rooms: listed }] of rooms) {
    assert.deepEqual([...found.get(room)!].sort(), [...listed].sort(), `what ${room}/ imports`);
  }
});

test(`imports run down but for the ${BACK} that are marked`, () => {
  const order = [...rooms.keys()];
  let count = 0;
  for (const [room, { rooms: listed, back }] of rooms) {
    const up = listed.filter((name) => order.indexOf(name) > order.indexOf(room));
    assert.deepEqual(up, back, `what ${room}/ imports from above`);
    count += back.length;
  }
  assert.ok(count <= BACK);
});

test("every shortcut on the list is where it says, and so is the test that holds it", () => {
  const [list] = readFileSync(join(root, "lib/streams/shortcuts/mod.ts"), "utf8").split("*/");
  const rows = [...list.matchAll(/^ \* \| [^|]+ \| `([\w/.]+)` `(\w+)` \| [^|]+ \| [^|]+ \| `([\w/.]+)` \|$/gm)];
  assert.equal(rows.length, list.split("\n").filter((line) => line.startsWith(" * | ")).length - 2);
  for (const [, path, name, held] of rows) {
    const module = modules.find((each) => each.path === `lib/streams/${path}`);
    assert.match(module?.code ?? "", new RegExp(`\\b${name}\\b`), `${path} ${name}`);
    assert.ok(existsSync(join(root, held)), held);
  }
});

test("departures of the streams are linked from the code that makes them, by the names that the differential runner has", () => {
  const departures = readFileSync(join(root, "tests/streams/differential/standard_departures.ts"), "utf8");
  const names = new Set([...departures.matchAll(/^ {4}name: "([^"]+)"/gm)].map(([, name]) => name));
  const linked = modules.flatMap(({ path }) => {
    const comments = readFileSync(join(root, path), "utf8").match(/\/\/ Departures? .*$/gm) ?? [];
    return comments.flatMap((comment) => [...comment.matchAll(/"([^"]+)"/g)].map(([, name]) => name));
  });
  assert.ok(linked.length >= 6);
  assert.deepEqual(linked.filter((name) => !names.has(name)), []);
});

for (const [folder, order] of Object.entries(othersRooms)) {
  test(`lib/${folder} has the rooms ${order.join(", ")}, which import only those before them`, () => {
    const roomIn = (path: string): string => new RegExp(`^lib/${folder}/(\\w+)/`).exec(path)?.[1] ?? "";
    const own = ourModules().filter(({ path }) => path.startsWith(`lib/${folder}/`));
    const loose = own.map(({ path }) => path).filter((path) => !order.includes(roomIn(path)));
    assert.deepEqual(loose.filter((path) => !/\/(?:mod|internal)\.ts$/.test(path)), []);
    const back = own.filter(({ path }) => roomIn(path) !== "").flatMap(({ path, imports }) =>
      imports.filter((imported) => order.indexOf(roomIn(imported)) > order.indexOf(roomIn(path)))
        .map((imported) => `${path} imports ${imported}`)
    );
    assert.deepEqual(back, []);
  });
}
