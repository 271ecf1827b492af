import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { root } from "../root.ts";
import { subpaths } from "./pages.ts";

/** A type, as `deno doc --json` describes it; `value` depends on its kind. */
export interface TypeNode {
  readonly kind: string;
  readonly repr?: string;
  // deno-lint-ignore no-explicit-any -- one shape for each of twenty kinds
  readonly value?: any;
}

export interface TypeParam {
  readonly name: string;
  readonly constraint?: TypeNode;
  readonly default?: TypeNode;
}

export interface Param {
  readonly kind: "identifier" | "assign" | "rest" | "object" | "array";
  readonly name?: string;
  readonly optional?: boolean;
  readonly tsType?: TypeNode;
  readonly left?: Param;
  readonly arg?: Param;
}

export interface Tag {
  readonly kind: string;
  readonly name?: string;
  readonly doc?: string;
  readonly tsType?: TypeNode;
  readonly value?: string;
}

export interface Doc {
  readonly doc?: string;
  readonly tags?: readonly Tag[];
}

/** A function, method or constructor: a symbol with parameters. */
export interface Callable {
  readonly params: readonly Param[];
  readonly returnType?: TypeNode;
  readonly typeParams?: readonly TypeParam[];
}

export interface Member extends Partial<Callable> {
  readonly name: string;
  readonly jsDoc?: Doc;
  readonly kind?: string;
  readonly optional?: boolean;
  readonly readonly?: boolean;
  readonly isStatic?: boolean;
  readonly computed?: boolean;
  readonly accessibility?: string;
  readonly tsType?: TypeNode;
  readonly functionDef?: Callable;
}

/** The definition of a declaration, by its kind; of a class its members are the public ones. */
export interface Definition extends Partial<Callable> {
  readonly tsType?: TypeNode;
  readonly kind?: string;
  readonly extends?: string | readonly TypeNode[];
  readonly superTypeParams?: readonly TypeNode[];
  readonly properties?: readonly Member[];
  readonly methods?: readonly Member[];
  readonly constructors?: readonly (Member & Callable)[];
  readonly target?: Location;
}

interface Location {
  readonly filename: string;
  readonly line: number;
  readonly col: number;
}

export type Kind = "class" | "function" | "interface" | "typeAlias" | "variable";

export interface Declaration {
  readonly kind: Kind;
  readonly location: Location;
  readonly jsDoc?: Doc;
  readonly def: Definition;
}

/** An exported name with its declarations, of which overloads have several. */
export interface Exported {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

/** A module of the public API. */
export interface Module {
  readonly subpath: string;
  readonly doc: Doc;
  readonly symbols: readonly Exported[];
}

interface Node {
  readonly module_doc: Doc;
  readonly symbols: readonly Exported[];
}

/** Reads the output of `deno doc` for modules, by path. */
export function readNodes(paths: readonly string[]): Map<string, Node> {
  const args = ["doc", "--quiet", "--json", ...paths];
  const options = { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26, env: { ...process.env, NO_COLOR: "1" } } as const;
  const output = execFileSync(join(root, "node_modules/.bin/deno"), args, options);
  const { nodes } = JSON.parse(output) as { readonly nodes: Readonly<Record<string, Node>> };
  return new Map(Object.entries(nodes).map(([url, node]) => [fileURLToPath(url), node]));
}

/** Reads the documentation of every subpath but the command's, which exports nothing. */
export function readModules(): Module[] {
  const entries = [...subpaths()].filter(([subpath]) => subpath !== "./cli");
  const nodes = readNodes(entries.map(([, path]) => path));
  const keyOf = ({ filename, line, col }: Location): string => `${filename}:${line}:${col}`;
  const declared = new Map<string, Declaration>();
  for (const { symbols } of nodes.values()) {
    for (const { declarations } of symbols) {
      for (const one of declarations) if (one.def.target === undefined) declared.set(keyOf(one.location), one);
    }
  }
  return entries.map(([subpath, path]): Module => {
    const { module_doc: doc, symbols } = nodes.get(join(root, path))!;
    const resolved = symbols.map(({ name, declarations }): Exported => {
      const own = declarations.map((one) => one.def.target ? declared.get(keyOf(one.def.target)) : one);
      if (own.includes(undefined)) throw new Error(`${subpath} exports ${name}, which deno doc does not describe`);
      return { name, declarations: own as Declaration[] };
    });
    return { subpath, doc, symbols: resolved.sort((a, b) => a.name < b.name ? -1 : 1) };
  });
}
