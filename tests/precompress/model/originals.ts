import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isOwnName } from "../../../lib/precompress/internal.ts";
import { hashOf, type Snapshot } from "./snapshot.ts";

/** A file of the site, as a run finds it. */
export interface Original {
  /** Its path below the site. */
  readonly path: string;
  /** The path of its variants in place: below the world, without links on the way. */
  readonly place: string;
  readonly hash: string;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

/** The originals of a site, and what cannot be looked at. */
export interface Originals {
  readonly files: readonly Original[];
  /** Paths of links that lead nowhere, into a loop, or out of the site. */
  readonly badLinks: readonly string[];
}

/** The treatment of links and dotfiles, by the options' names. */
export interface WalkedBy {
  readonly dotfiles: boolean;
  readonly followLinks: boolean;
  /** Whether each folder is visited once. */
  readonly once: boolean;
}

/** Returns the files of the site in `world` that its user made; what runs made is left out. */
export function originalsOf(world: string, theirs: Snapshot, { dotfiles, followLinks, once }: WalkedBy): Originals {
  const files: Original[] = [];
  const badLinks: string[] = [];
  const visited = new Set<string>();
  let links: { path: string; real: string; above: string[] }[] = [];
  visit("", "site", ["site"]);
  while (links.length > 0) {
    const next = links.sort((a, b) => a.path < b.path ? -1 : 1);
    links = [];
    for (const { path, real, above } of next) visit(path, real, [...above, real]);
  }
  return { files, badLinks };

  function visit(below: string, real: string, above: string[]): void {
    if (once && visited.has(real)) return;
    visited.add(real);
    for (const name of readdirSync(join(world, real))) {
      if (isOwnName(name) || (name.startsWith(".") && name !== ".well-known" && !dotfiles)) continue;
      const path = below === "" ? name : `${below}/${name}`;
      const place = real === "" ? name : `${real}/${name}`;
      if (!theirs.has(place)) continue;
      const status = lstatSync(join(world, place));
      if (status.isDirectory()) visit(path, place, [...above, place]);
      else if (status.isSymbolicLink()) visitLink(path, place, above);
      else add(path, place);
    }
  }

  function visitLink(path: string, place: string, above: string[]): void {
    let real: string;
    try {
      real = relative(world, realpathSync(join(world, place)));
    } catch {
      badLinks.push(path);
      return;
    }
    const isInside = real === "site" || real.startsWith("site/");
    const leadsToCopy = real === "out" || real.startsWith("out/") || real === "";
    if ((!isInside && !followLinks) || (!once && leadsToCopy)) badLinks.push(path);
    else if (!statSync(join(world, real)).isDirectory()) add(path, place);
    else if (above.includes(real)) badLinks.push(path);
    else links.push({ path, real, above });
  }

  function add(path: string, place: string): void {
    const full = join(world, place);
    const bytes = readFileSync(full);
    const { mode, mtimeMs } = statSync(full);
    files.push({ path, place, hash: hashOf(bytes), size: bytes.length, mode: mode & 0o777, mtimeMs });
  }
}
