import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Block, blocksOfMarkdown } from "./block.ts";

/** A module that users import, or a symbol that it exports. */
export interface PublicSymbol {
  /** The symbol's name, or the subpath of a module. */
  readonly name: string;
  /** The place of its declaration: `path:line`, below the repository's folder. */
  readonly place: string;
  readonly path: string;
  readonly description: string;
  readonly examples: readonly Example[];
}

/** An `@example` of a symbol. */
export interface Example {
  readonly title: string;
  readonly blocks: readonly Block[];
}

interface DocComment {
  readonly doc?: string;
  readonly tags?: readonly { readonly kind: string; readonly doc?: string }[];
}

interface Declaration {
  readonly kind: string;
  readonly location: Location;
  readonly jsDoc?: DocComment;
  readonly def?: { readonly target?: Location };
}

interface Location {
  readonly filename: string;
  readonly line: number;
}

interface ModuleDoc {
  readonly module_doc?: DocComment;
  readonly symbols: readonly { readonly name: string; readonly declarations: readonly Declaration[] }[];
}

/**
 * Returns the public modules and symbols of the entry points in deno.json's exports, by `deno doc`; a symbol that several
 * of them export is listed once.
 *
 * @param deno The program of Deno.
 * @throws {TypeError} If a module re-exports a symbol that `deno doc` does not show.
 */
export function publicSymbols(root: string, deno: string): PublicSymbol[] {
  const { exports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as { exports: Record<string, string> };
  const paths = Object.values(exports);
  const json = execFileSync(deno, ["doc", "--json", ...paths], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 << 20,
    stdio: ["ignore", "pipe", "ignore"], // it warns of what @types/node refers to
  });
  const { nodes } = JSON.parse(json) as { nodes: Record<string, ModuleDoc> };
  const modules = Object.entries(nodes).map(([url, { module_doc }]) => {
    const path = pathBelow(root, url);
    const name = Object.keys(exports).find((subpath) => join(exports[subpath]) === path) ?? path;
    return documented(name, path, 1, module_doc === undefined ? [] : [module_doc]);
  });
  return [...modules, ...symbolsOf(root, Object.values(nodes))];
}

function symbolsOf(root: string, nodes: readonly ModuleDoc[]): PublicSymbol[] {
  const found = new Map<string, PublicSymbol>();
  const passedOn = new Map<string, string>();
  for (const { name, declarations } of nodes.flatMap(({ symbols }) => symbols)) {
    for (const { def } of declarations.filter(({ kind }) => kind === "reference")) {
      if (name !== "default") passedOn.set(placeOf(root, def!.target!), name); // it has another name, too
    }
    const own = declarations.filter(({ kind }) => kind !== "reference");
    if (own.length === 0) continue;
    const { filename, line } = own[0].location;
    const comments = own.flatMap(({ jsDoc }) => jsDoc ?? []);
    found.set(placeOf(root, own[0].location), documented(name, pathBelow(root, filename), line, comments));
    own.slice(1).forEach(({ location }) => passedOn.delete(placeOf(root, location)));
  }
  const declared = new Set([...found.values()].map(({ name, path }) => `${path} ${name}`));
  for (const [place, name] of passedOn) {
    if (!declared.has(`${place.replace(/:\d+$/, "")} ${name}`)) throw new TypeError(`${place}: no docs of ${name}`);
  }
  return [...found.values()];
}

function documented(name: string, path: string, line: number, comments: readonly DocComment[]): PublicSymbol {
  const place = `${path}:${line}`;
  const examples = comments.flatMap(({ tags = [] }) => tags)
    .filter(({ kind }) => kind === "example")
    .map(({ doc = "" }) => exampleOf(place, doc));
  return { name, path, place, description: comments.map(({ doc = "" }) => doc.trim()).join(""), examples };
}

function exampleOf(place: string, doc: string): Example {
  const lines = doc.split("\n");
  const title = /^\s*(?:`{3,}|~{3,})/.test(lines[0]) ? "" : lines[0].trim();
  return { title, blocks: blocksOfMarkdown(place, lines.map((text, i) => ({ number: i + 1, text }))) };
}

function placeOf(root: string, { filename, line }: Location): string {
  return `${pathBelow(root, filename)}:${line}`;
}

function pathBelow(root: string, url: string): string {
  return relative(root, fileURLToPath(url));
}
