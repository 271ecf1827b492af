import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { root } from "../../.ci/root.ts";

const { resolve } = createRequire(import.meta.url);

/** A member of a class or an interface of this package, as the formatter lays it out. */
const MEMBER = /^ {2}(?:(?:readonly|override|abstract|protected|get|set|async) )*(\w+)[?!]?(?:[:;(<]| =)/gm;

/** A member of an interface of the platform, or a variable, however far it is indented. */
const PLATFORM_MEMBER = /^(?: +|declare var )(?:(?:readonly|get|set) )*"?(\w+)"?\??[:;(<]/gm;

/** A class or an interface, from its first line to its last. */
const DECLARATION = /^(?:export )?(?:abstract )?(class|interface) (\w+)[^]*?^}/gm;

/** The folders that run in pages. */
const PAGES = "lib/{batch,codecs,streams,text}";

/** Names of the platform that no module of these folders uses for objects of the platform. */
const OWN_IN_PAGES: readonly string[] = ["controller", "queue", "state"];

/**
 * The names of properties that only our own code knows: what the classes that run in pages declare, without what the
 * language and the platform have, what is public, and what modules that are not built use. The build gives them short
 * names, which makes pages smaller.
 */
export function internalNames(): string[] {
  const known = new Set([...platformNames(), ...publicNames(), ...namesOutside()]);
  for (const name of OWN_IN_PAGES) known.delete(name);
  const classes = sources(`${PAGES}/**/*.ts`).flatMap((text) => declarationsOf(text, "class"));
  return [...new Set(classes.flatMap(({ members }) => members))].filter((name) => !known.has(name)).sort();
}

function declarationsOf(text: string, kind: "class" | ""): { name: string; members: string[] }[] {
  return [...withoutComments(text).matchAll(DECLARATION)]
    .filter(([, keyword]) => keyword.startsWith(kind))
    .map(([declaration, , name]) => ({ name, members: membersOf(declaration) }));
}

function sources(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map((path) => readFileSync(join(root, path), "utf8"));
}

function membersOf(text: string, member = MEMBER): string[] {
  return [...text.matchAll(member)].map(([, name]) => name);
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\//g, "");
}

/** Whatever TypeScript's libraries declare, of whatever object. */
function platformNames(): string[] {
  const typescript = createRequire(resolve("typescript/package.json"));
  const platform = typescript.resolve(`@typescript/typescript-${process.platform}-${process.arch}/package.json`);
  const libraries = globSync(join(dirname(platform), "lib/lib.*.d.ts"));
  const declared = libraries.flatMap((path) => membersOf(withoutComments(readFileSync(path, "utf8")), PLATFORM_MEMBER));
  if (!declared.includes("getReader")) throw new Error(`${platform} has no libraries with the names of the platform`);
  return [...declared, ...Object.getOwnPropertyNames(globalThis)];
}

/** Returns the members of the exports of each `mod.ts`. */
function publicNames(): string[] {
  const exported = new Set(sources(`${PAGES}/mod.ts`).flatMap((text) => withoutComments(text).match(/\w+/g) ?? []));
  const declarations = sources(`${PAGES}/**/*.ts`).flatMap((text) => declarationsOf(text, ""));
  return declarations.filter(({ name }) => exported.has(name)).flatMap(({ members }) => members);
}

/** Returns every word of the codecs' modules, which are not rewritten, and what their WebAssembly exports. */
function namesOutside(): string[] {
  const exported = sources("lib/codecs/module.ts").flatMap((text) => declarationsOf(text, ""))
    .find(({ name }) => name === "Exports")!.members;
  return [...exported, ...sources("lib/codecs/wasm/*.js").flatMap((text) => text.match(/[A-Za-z_]\w*/g) ?? [])];
}
