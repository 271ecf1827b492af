import { chooseForMemory } from "./memory.ts";
import type { Settings } from "./options.ts";
import type { Representation, TreeFile } from "./representation.ts";
import { Resource } from "./resource.ts";

/** Where a path is answered from another one; relative to it, so that it holds behind any prefix. */
export interface Redirect {
  readonly status: 301 | 308;
  readonly location: string;
}

/** What is answered for each path. Built as a whole and replaced as a whole, so that no answer mixes two deploys. */
export interface Table {
  /** By decoded path. */
  readonly byPath: ReadonlyMap<string, Resource | Redirect>;
  readonly resources: readonly Resource[];
  readonly fallback: Resource | undefined;
  readonly notFound: Resource | undefined;
}

/**
 * The table of `files`.
 *
 * @param former Immutable files of the former deploy, or what they were answered by: for paths that `files` lack.
 * @throws {TypeError} if the file of `fallback` is not there, or a callback of the settings gives what it should not.
 */
export function buildTable(
  files: readonly TreeFile[],
  former: readonly (TreeFile | Resource)[],
  settings: Settings,
): Table {
  const kept = chooseForMemory(representationsOf(files, settings), settings.memoryLimit);
  const byPath = new Map<string, Resource | Redirect>();
  const byFile = new Map<string, Resource>();
  const add = (resource: Resource): void => {
    byFile.set(resource.file.path, resource);
    byPath.set(resource.path, resource);
  };
  for (const file of files) add(new Resource(file, urlPathOf(file.path, settings), settings, kept));
  for (const each of former) {
    const resource = each instanceof Resource
      ? each
      : new Resource(each, urlPathOf(each.path, settings), settings, none);
    if (byPath.has(resource.path)) continue;
    resource.isFormer = true;
    add(resource);
  }
  for (const resource of byFile.values()) {
    addOtherPaths(resource, byPath, settings);
    if (settings.hasCallbacks) resource.fields(); // what they give is checked now, not at the first request
  }
  return {
    byPath,
    resources: [...byFile.values()],
    fallback: settings.fallback === undefined ? undefined : required("fallback", settings.fallback, byFile),
    notFound: byFile.get(settings.notFound),
  };
}

/** The former deploy's files are read when they are asked for: few are. */
const none: ReadonlySet<Representation> = new Set();

function* representationsOf(files: readonly TreeFile[], settings: Settings): Generator<Representation> {
  for (const { identity, variants, deltas } of files) {
    yield identity;
    yield* variants;
    if (settings.dictionaries) yield* deltas;
  }
}

/** Where a file is served: an index file at its folder, with clean URLs a page without its extension. */
function urlPathOf(path: string, { basePath, index, cleanUrls }: Settings): string {
  // No target names a backslash but as it is here: none is a separator.
  const own = basePath + path.replaceAll("\\", "%5C");
  if (isIndex(path, index)) return own.slice(0, -index!.length);
  return cleanUrls && own.endsWith(HTML) ? own.slice(0, -HTML.length) : own;
}

const HTML = ".html";

function isIndex(path: string, index: string | undefined): boolean {
  return index !== undefined && path.endsWith(index) &&
    (path.length === index.length || path.at(-index.length - 1) === "/");
}

/** Adds the paths that lead to `resource` but are not its own, unless they are another's. */
function addOtherPaths(resource: Resource, byPath: Map<string, Resource | Redirect>, settings: Settings): void {
  const { path, file } = resource;
  const own = settings.basePath + file.path.replaceAll("\\", "%5C");
  const isPage = settings.cleanUrls && own.endsWith(HTML);
  if (own !== path && !byPath.has(own)) byPath.set(own, isPage ? redirect(308, lastPart(path)) : resource);
  if (!path.endsWith("/") || path === "/") return;
  const folder = path.slice(0, -1);
  if (!byPath.has(folder)) byPath.set(folder, redirect(301, `${lastPart(folder)}/`));
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** `./` keeps a name with a colon from passing for a scheme. */
function redirect(status: 301 | 308, name: string): Redirect {
  return { status, location: `./${encodeURIComponent(name.toWellFormed()).replaceAll("%2F", "/")}` };
}

function required(option: string, path: string, byFile: ReadonlyMap<string, Resource>): Resource {
  const resource = byFile.get(path);
  if (resource) return resource;
  throw new TypeError(`${option} "${path}" is not among the files of the folder: name one that is, below the folder`);
}
