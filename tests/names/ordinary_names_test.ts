import assert from "node:assert/strict";
import test from "node:test";
import { hashedNames } from "../../lib/names/mod.ts";
import { namesAsRandom, nearHashes, randomTails } from "./near_hashes.ts";
import { ordinaryNames } from "./ordinary_names.ts";
import { oneOf, randomFrom, text } from "./random_names.ts";
import { layouts, projects } from "./tool_names.ts";

const kinds: Readonly<Record<string, readonly string[]>> = {
  ...ordinaryNames,
  ...nearHashes,
  "as random as hashes": namesAsRandom,
};
const all = [...new Set(Object.values(kinds).flat())];
const FOLDERS = [
  "",
  "assets/",
  "static/",
  "static/js/",
  "build/",
  "images/",
  "dist/assets/",
  "chunks/",
  "_next/static/",
];
/** The folders of files that a build tool copies as they are. */
const OWN_FOLDERS = ["", "images/", "docs/", "files/", "users/", "static/"];

/** Returns the paths of `asked` that count as hashed in a tree of `paths`. */
function mistaken(paths: readonly string[], asked: readonly string[] = paths): string[] {
  const hashIn = hashedNames(paths);
  return asked.filter((path) => hashIn(path) !== undefined);
}

test("there are many ordinary names", () => assert.ok(all.length >= 2800, `${all.length}`));

for (const [kind, names] of Object.entries(kinds)) {
  test(`no name ${kind} passes for hashed, alone or with its like, in whatever folder`, () => {
    for (const folder of FOLDERS) {
      const paths = names.map((name) => folder + name);
      assert.deepEqual(paths.flatMap((path) => mistaken([path])), []);
      assert.deepEqual(mistaken(paths), []);
    }
  });
}

test("no ordinary name passes for hashed among all others", () => {
  for (const folder of FOLDERS) assert.deepEqual(mistaken(all.map((name) => folder + name)), []);
  assert.deepEqual(mistaken(FOLDERS.flatMap((folder) => all.map((name) => folder + name))), []);
});

/** Files there are believed by their folders, as their frameworks themselves do. */
const FRAMEWORKS = /^_(?:app\/immutable|nuxt|astro|next\/static)\//;
/** Returns the folders that hold what a build tool named, other than a framework's. */
function foldersOf(build: readonly string[]): string[] {
  const folders = new Set(build.map((path) => path.slice(0, path.lastIndexOf("/") + 1)));
  return [...folders].filter((folder) => !FRAMEWORKS.test(folder));
}

/** Only these could pass for hashed; of the others one is as good as another. */
const near = all.filter((name) => /(?:^|[-._])[\w-]{8,}\.\w+$/.test(name));
const isAsRandom = (name: string): boolean => randomTails.some((tail) => name.includes(tail));
const told = near.filter((name) => !isAsRandom(name));

Object.entries(layouts).forEach(([tool, layout], number) => {
  const [build] = projects(layout, 1, number);
  const own = foldersOf(build);
  // All names beside all tools would take a minute: each is beside three of them.
  const some = (names: readonly string[]): readonly string[] => names.filter((_, i) => (i + number) % 6 === 0);

  test(`no ordinary name passes for hashed beside what ${tool} wrote`, () => {
    for (const folder of OWN_FOLDERS.filter((each) => !own.includes(each))) {
      const paths = near.map((name) => folder + name);
      assert.deepEqual(mistaken([...build, ...paths], paths), []);
      assert.deepEqual(some(paths).flatMap((path) => mistaken([...build, path], [path])), []);
    }
  });

  test(`nor in one folder with that of ${tool}, unless it is as random as a hash`, () => {
    for (const folder of own) {
      const paths = told.map((name) => folder + name);
      assert.deepEqual(mistaken([...build, ...paths], paths), []);
      assert.deepEqual(some(paths).flatMap((path) => mistaken([...build, path], [path])), []);
    }
  });
});

const random = randomFrom(1);
const HEX = "0123456789abcdef";
const BASE62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Makes a thousand names. */
const thousand = (make: (number: number) => string): string[] => Array.from({ length: 1000 }, (_, i) => make(i));

/** Folders of a thousand files named by an id, by the kind of id. */
const folders: Readonly<Record<string, readonly string[]>> = {
  "pictures of users with 8 hexadecimal digits": thousand(() => `avatar-${text(random, HEX, 8)}.png`),
  "pictures with the ids of MongoDB": thousand(() => `${oneOf(random, "56")}${text(random, HEX, 23)}.png`),
  "pictures with an MD5 of an address": thousand(() => `${text(random, HEX, 32)}.jpg`),
  "pictures with short ids": thousand(() => `photo-${text(random, BASE62, 8)}.jpg`),
  "pictures with ids of a scheme": thousand((i) => `item.${String(i).padStart(4, "0")}${text(random, HEX, 4)}.webp`),
  "pictures of a camera": thousand((i) => `IMG_${String(i).padStart(4, "0")}.jpg`),
  "pictures with a time": thousand((i) => `photo-${1_700_000_000 + i * 977}.jpg`),
  "scripts of customers with 8 hexadecimal digits": thousand(() => `widget-${text(random, HEX, 8)}.js`),
  "styles of customers with ids of MongoDB": thousand(() => `${text(random, HEX, 24)}.css`),
  "styles of customers with short ids": thousand(() => `theme-${text(random, BASE62, 8)}.css`),
  "scripts of two kinds with numbers": thousand((i) =>
    `${oneOf(random, ["page", "part"])}-${10_000_000 + i * 8081}.js`
  ),
};

for (const [kind, names] of Object.entries(folders)) {
  test(`a folder of ${kind} has no hashes`, () => {
    for (const folder of ["", "users/", "assets/", "static/"]) {
      assert.deepEqual(mistaken(names.map((name) => folder + name)), []);
    }
  });

  test(`nor has it beside what a build tool wrote, or in one folder with that`, () => {
    for (const [tool, layout] of Object.entries(layouts)) {
      const build = projects(layout, 300, 4).find((paths) => paths.length > 80)!;
      for (const folder of new Set(["users/", "images/", "assets/", ...foldersOf(build)])) {
        const paths = names.map((name) => folder + name);
        assert.deepEqual(mistaken([...build, ...paths], paths), [], `${tool}, ${folder}`);
      }
    }
  });
}
