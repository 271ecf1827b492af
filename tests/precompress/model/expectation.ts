import { lstatSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { type DeltaFormat, extensions, type VariantFormat } from "../../../lib/precompress/mod.ts";
import { contentOf, contentOfForm, contents, variantOf } from "./contents.ts";
import { type Original, originalsOf } from "./originals.ts";
import { type Entry, hashOf, type Snapshot } from "./snapshot.ts";

/** The options of a run, all of them given. */
export interface RunOptions {
  readonly formats: readonly VariantFormat[];
  readonly levels: Readonly<Record<VariantFormat, number>>;
  readonly minSize: number;
  readonly minSaving: number;
  /** Whether only scripts are compressed. */
  readonly scriptsOnly: boolean;
  readonly dotfiles: boolean;
  readonly followLinks: boolean;
  readonly force: boolean;
  /** Whether there is a previous deploy. */
  readonly previous: boolean;
  /** Whether files are copied to another folder. */
  readonly copies: boolean;
}

/** The files expected after a run, by place: a path below the world. */
export interface Expectation {
  readonly files: Map<string, Extract<Entry, { kind: "file" }>>;
  /** Places in a copy where the user put the very bytes that belong there: these stay the user's. */
  readonly ready: Set<string>;
  /** Places of what may be made of a variant that has become a file of its own: it may be too dense, or not. */
  readonly mayBeMade: Set<string>;
  /** Paths that a problem must name, below the site or the copy. */
  readonly told: Set<string>;
  /** Paths that a problem may name. */
  readonly mayBeTold: Set<string>;
  /** Paths of links that could not be followed: a copy may still have what was behind them. */
  readonly badLinks: readonly string[];
  readonly isEmpty: boolean;
  readonly matchesNothing: boolean;
}

/** The hash of the one content that looks compressed in itself. */
const denseHash = hashOf(contents[9]!);
const suffixes = Object.values(extensions);
const deltas: Partial<Record<VariantFormat, DeltaFormat>> = { brotli: "dcb", zstd: "dcz" };

/** Returns the plain model of a run: what a first run over what the user made would leave. */
export function expectationOf(world: string, theirs: Snapshot, options: RunOptions, previous: Snapshot): Expectation {
  const { copies, force } = options;
  const { files: found, badLinks } = originalsOf(world, theirs, { ...options, once: !copies });
  const paths = new Set(found.map(({ path }) => path));
  const beside = new Map(
    found.filter(({ path }) =>
      suffixes.some((suffix) => path.endsWith(suffix) && paths.has(path.slice(0, -suffix.length)))
    )
      .map((file) => [file.path, file]),
  );
  const files: Expectation["files"] = new Map();
  const ready = new Set<string>();
  const mayBeMade = new Set<string>();
  const told = new Set<string>(badLinks);
  const mayBeTold = new Set<string>();
  const originals = found.filter(({ path }) => !beside.has(path));
  for (const file of originals) {
    if (!copies || expectCopy(file)) expectVariants(file);
  }
  if (copies) { for (const file of beside.values()) expectCopy(file); }
  const matchesNothing = options.scriptsOnly && originals.length > 0 && !originals.some(isSelected);
  const isEmpty = found.length + badLinks.length === 0;
  return { files, ready, mayBeMade, told, mayBeTold, badLinks, isEmpty, matchesNothing };

  /** Whether the copy can be written to its place. */
  function expectCopy({ path, hash, mode, mtimeMs }: Original): boolean {
    const place = `out/${path}`;
    const entry: Entry = { kind: "file", hash, mode, mtimeMs };
    if (files.has(place)) return true; // a variant took its place
    const there = theirs.get(place);
    if (
      isBlocked(place) || isFolderOfTheirs(place) ||
      (there && (there.kind !== "file" || there.hash !== hash) && !(force && isFileOrInnerLink(place)))
    ) {
      told.add(path);
      return false;
    }
    if (there?.kind === "file" && !force) {
      files.set(place, there);
      ready.add(place);
    } else files.set(place, entry);
    return true;
  }

  /** Whether something that is no folder stands where a folder of `place` belongs, or a link leads on. */
  function isBlocked(place: string): boolean {
    const parts = place.split("/");
    return parts.some((_, i) => i > 1 && isOther(theirs.get(parts.slice(0, i).join("/"))));
  }

  /** Whether a run made a folder there, and the user put something into it. */
  function isFolderOfTheirs(place: string): boolean {
    return !theirs.has(place) && [...theirs.keys()].some((each) => each.startsWith(`${place}/`));
  }

  function isOther(entry: Entry | undefined): boolean {
    return entry !== undefined && entry.kind !== "folder";
  }

  function isFileOrInnerLink(place: string): boolean {
    const there = theirs.get(place);
    if (there?.kind === "file") return true;
    return there?.kind === "link" && targetOf(place) !== undefined;
  }

  /** Returns the place of the file that a link of the same area leads to. */
  function targetOf(place: string): string | undefined {
    try {
      const real = relative(world, realpathSync(join(world, place)));
      const area = place.slice(0, place.indexOf("/") + 1);
      return real.startsWith(area) || options.followLinks && !copies ? real : undefined;
    } catch {
      return undefined;
    }
  }

  function isSelected({ path }: Original): boolean {
    return !options.scriptsOnly || path.endsWith(".js");
  }

  function isWanted(file: Original): boolean {
    return file.hash !== denseHash && file.size >= options.minSize && isSelected(file) &&
      !suffixes.some((suffix) => file.path.endsWith(suffix));
  }

  function expectVariants(file: Original): void {
    const content = contentOf(file.hash);
    if (!isWanted(file)) return;
    if (content === undefined) {
      for (const suffix of suffixes) {
        mayBeMade.add((copies ? `out/${file.path}` : file.place) + suffix);
        mayBeTold.add(file.path + suffix); // the variant there was probably not made from this file
      }
      return;
    }
    const old = options.previous ? previous.get(`previous/${file.path}`) : undefined;
    const dictionary = old?.kind === "file" && old.hash !== file.hash ? contentOf(old.hash) : undefined;
    for (const format of options.formats) {
      const limit = Math.floor(file.size * (1 - options.minSaving));
      const plain = expectVariant(file, format, variantOf(content, format, options.levels[format]), limit);
      const delta = deltas[format];
      if (!delta || !dictionary || dictionary.length < 1024) continue;
      const bytes = variantOf(content, delta, options.levels[format], dictionary);
      expectVariant(file, delta, bytes, Math.floor((plain ?? file.size) * 0.9), dictionary);
    }
  }

  /** Returns the size of the variant that is there then. */
  function expectVariant(
    file: Original,
    format: VariantFormat | DeltaFormat,
    bytes: Uint8Array,
    limit: number,
    dictionary?: Uint8Array,
  ): number | undefined {
    const isKept = bytes.length <= limit;
    const entry: Entry = { kind: "file", hash: hashOf(bytes), mode: file.mode, mtimeMs: file.mtimeMs };
    const path = file.path + extensions[format];
    const place = copies ? `out/${path}` : file.place + extensions[format];
    const isDelta = format.startsWith("dc");
    const beneath = beside.get(path);
    if (copies && beneath && !force) {
      if (contentOfForm(beneath.hash, format, dictionary) === file.hash) return beneath.size;
      told.add(path);
      return undefined;
    }
    const there = theirs.get(place);
    const isFolder = copies && found.some((file) => file.path.startsWith(`${path}/`));
    if (isFolder || isFolderOfTheirs(place)) {
      // A folder, of the tree or with a file of the user's in it, has its place.
      (isFolder || isKept ? told : mayBeTold).add(path);
      return undefined;
    }
    if (!there || (there.kind === "file" && there.hash === entry.hash && isKept)) {
      if (isKept) files.set(place, entry);
      return isKept ? bytes.length : undefined;
    }
    mayBeTold.add(path);
    const target = there.kind === "link" ? targetOf(place) : place;
    const status = target === undefined ? undefined : theirs.get(target) ?? { kind: "ours" as const };
    if (target === undefined || status!.kind === "folder") {
      // A folder in a copy may go until the variant is there.
      if (isKept || target === undefined || !copies) told.add(path);
      return undefined;
    }
    if (force) {
      if (isKept) files.set(place, entry);
      return isKept ? bytes.length : undefined;
    }
    const isForm = status?.kind === "file" && contentOfForm(status.hash, format, dictionary) === file.hash;
    if (isForm) return lstatSync(join(world, target)).size;
    if (isKept || !isDelta) {
      // A link may lead to what a run makes: what it finds there depends on when it looks.
      if (status?.kind === "file") told.add(path);
      else mayBeTold.add(path);
    }
    return undefined;
  }
}
