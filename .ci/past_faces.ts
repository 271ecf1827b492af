import { readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

/** An import or export by name from a folder's face, as `deno fmt` writes it. */
const FROM_FACE = /^(import|export) \{([^}]*)\} from "(\.[^"]*\/(?:mod|internal)\.ts)";/gm;

/** The place where a name is declared. */
interface Origin {
  /** The path of a source, or a name such as `#streams/host`, whose source depends on the condition. */
  readonly path: string;
  readonly name: string;
}

const faces = new Map<string, ReadonlyMap<string, Origin>>();

/**
 * Returns a source that imports from the modules themselves instead of the `mod.ts` or `internal.ts` of their folders.
 * Without this step, every import from such a file would load all modules that the file re-exports.
 *
 * @param kept The name of the files whose imports stay.
 */
export function pastFaces(source: string, path: string, kept?: "mod.ts"): string {
  return source.replace(FROM_FACE, (statement, kind: string, list: string, from: string) => {
    if (basename(from) === kept) return statement;
    const statements = namesIn(list).map(([name, alias]) => {
      const origin = originOf(join(dirname(path), from), name);
      return `${kind} { ${origin.name} as ${alias} } from ${JSON.stringify(specifierOf(origin.path, path))};`;
    });
    return statements.join(" ") + list.replace(/[^\n]/g, ""); // lines keep their numbers
  });
}

/** Returns the words by which the module at `importer` imports the one at `path`. */
export function specifierOf(path: string, importer: string): string {
  if (path.startsWith("#")) return path;
  const way = relative(dirname(importer), path).replaceAll("\\", "/");
  return way.startsWith(".") ? way : `./${way}`;
}

/** Returns the names in the braces of an import or export, with their aliases, except for types. */
function namesIn(list: string): [name: string, alias: string][] {
  const names = list.split(",").map((each) => each.trim()).filter((each) => each !== "" && !each.startsWith("type "));
  return names.map((each) => {
    const [name, alias = name] = each.split(" as ");
    return [name, alias];
  });
}

function originOf(path: string, name: string): Origin {
  const isFace = /^(?:mod|internal)\.ts$/.test(basename(path));
  return isFace ? originsIn(path).get(name) ?? { path, name } : { path, name };
}

/** Returns the origins of the names that a face exports. */
function originsIn(face: string): ReadonlyMap<string, Origin> {
  const known = faces.get(face);
  if (known !== undefined) return known;
  const origins = new Map<string, Origin>();
  faces.set(face, origins);
  for (const [, list, from] of readFileSync(face, "utf8").matchAll(/^export \{([^}]*)\} from "([.#][^"]*)";/gm)) {
    const path = from.startsWith("#") ? from : join(dirname(face), from);
    for (const [name, alias] of namesIn(list)) origins.set(alias, originOf(path, name));
  }
  return origins;
}
