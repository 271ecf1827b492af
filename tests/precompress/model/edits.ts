import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { extensions, manifestName } from "../../../lib/precompress/mod.ts";
import { journalName } from "../../../lib/precompress/manifest.ts";
import { contents, formBy } from "./contents.ts";

/** Returns a whole number from 0 up to, but not including, `below`. */
export type Random = (below: number) => number;

const folders = ["", "", "d/", "d/e/", ".hidden/", ".well-known/", "v1/", "v2/"];
const names = ["a.js", "b.css", "c.html", "d.tar", "constructor", "__proto__", ".env", "long.txt"];
const suffixes = Object.values(extensions);
const links = [
  "a.js",
  "d",
  "../d",
  ".",
  "..",
  "nowhere",
  "v1",
  ".hidden",
  "../.hidden",
  "../else",
  "../else/o.js",
  "../../else",
  "b.css.gz",
  "d.tar",
];

/** Returns a random member of `items`. */
export function oneOf<T>(items: readonly T[], random: Random): T {
  return items[random(items.length)]!;
}

/** Makes a user's random change to a world, mostly to existing files; returns its description. */
export function edit(world: string, there: readonly string[], random: Random): string {
  const area = oneOf(["site", "site", "site", "site", "out", "else"], random);
  const kind = random(17);
  const files = there.filter((path) => path.startsWith(`${area}/`));
  const isNew = files.length === 0 || random(3) === 0 || (kind < 4 && random(2) === 0);
  const base = isNew ? `${area}/${oneOf(folders, random)}${oneOf(names, random)}` : oneOf(files, random);
  const suffix = oneOf(suffixes, random);
  const path = join(world, base);
  const content = oneOf(contents, random);
  switch (kind) {
    case 0:
    case 1:
    case 2:
    case 3:
      return put(path, content, random) ? `write ${base}` : "nothing";
    case 4:
      return put(path + suffix, new TextEncoder().encode(`theirs ${random(1000)}`), random)
        ? `junk ${base}${suffix}`
        : "nothing";
    case 5:
    case 6: {
      const own = random(3) > 0 ? contentAt(path) : content;
      const extension = oneOf([".br", ".gz"] as const, random);
      if (own === undefined) return "nothing";
      return put(path + extension, formBy(own, extension), random) ? `form ${base}${extension}` : "nothing";
    }
    case 7:
      return remove(path) ? `remove ${base}` : "nothing";
    case 8:
      return remove(path + suffix) ? `remove ${base}${suffix}` : "nothing";
    case 9:
      return makeLink(path + oneOf(["", "", "", suffix], random), oneOf(links, random)) ? `link at ${base}` : "nothing";
    case 10:
      return change(path, () => chmodSync(path, oneOf([0o600, 0o644, 0o755, 0o640], random)))
        ? `chmod ${base}`
        : "nothing";
    case 11:
      return change(path, () => utimesSync(path, 1.7e9 + random(1e6), 1.7e9 + random(1e6)))
        ? `touch ${base}`
        : "nothing";
    case 12:
      return move(path, join(world, area, oneOf(folders, random), oneOf(names, random))) ? `move ${base}` : "nothing";
    case 13: {
      const [from, to] = [oneOf(folders, random), oneOf(folders, random)];
      if (from === "" || to === "" || to.startsWith(from) || from.startsWith(to)) return "nothing";
      return move(join(world, area, from), join(world, area, to)) ? `move folder ${area}/${from} to ${to}` : "nothing";
    }
    case 14:
      return makeFolder(path + oneOf(["", suffix], random)) ? `folder at ${base}` : "nothing";
    case 15:
      return copyAcross(world, random);
    default:
      return copyVariant(world, random);
  }
}

/** Loses or breaks the manifest of the site or the copy. */
export function loseManifest(world: string, area: string): void {
  rmSync(join(world, area, manifestName), { force: true });
  rmSync(join(world, area, journalName), { force: true });
}

function put(path: string, bytes: Uint8Array, random: Random): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true }); // a link would be written through
    writeFileSync(path, bytes, { mode: oneOf([0o644, 0o600], random) });
    return true;
  } catch {
    return false; // a folder is there, or a file where a folder belongs
  }
}

function contentAt(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(readFileSync(path));
  } catch {
    return undefined;
  }
}

function remove(path: string): boolean {
  return change(path, () => rmSync(path, { recursive: true }));
}

function makeLink(path: string, to: string): boolean {
  return attempt(() => {
    rmSync(path, { force: true });
    symlinkSync(to, path);
  });
}

function makeFolder(path: string): boolean {
  return attempt(() => {
    rmSync(path, { force: true });
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "inside.js"), contents[7]!);
  });
}

function move(from: string, to: string): boolean {
  return change(from, () => {
    mkdirSync(dirname(to.replace(/\/$/, "")), { recursive: true });
    renameSync(from.replace(/\/$/, ""), to.replace(/\/$/, ""));
  });
}

/** Copies a variant to another file's name, like a copy with a wrong pattern. */
function copyVariant(world: string, random: Random): string {
  const variants = readdirSync(join(world, "site")).filter((name) => suffixes.some((suffix) => name.endsWith(suffix)));
  if (variants.length === 0) return "nothing";
  const from = oneOf(variants, random);
  const to = oneOf(names, random) + from.slice(from.lastIndexOf("."));
  const bytes = contentAt(join(world, "site", from));
  return bytes && put(join(world, "site", to), bytes, random) ? `copy site/${from} to ${to}` : "nothing";
}

/** Copies a file of the site to its place in the copy, like a manual deploy. */
function copyAcross(world: string, random: Random): string {
  const path = oneOf(folders, random) + oneOf(names, random);
  const bytes = contentAt(join(world, "site", path));
  return bytes && put(join(world, "out", path), bytes, random) ? `copy site/${path} to out` : "nothing";
}

function change(path: string, action: () => void): boolean {
  return attempt(() => {
    lstatSync(path);
    action();
  });
}

function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
