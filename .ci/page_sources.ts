import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { BuildOptions, Plugin } from "esbuild";
import { pastFaces } from "./past_faces.ts";

/** The constants that are false in pages: native sides are made with their streams, and the browser is not Bun. */
const FALSE: readonly string[] = ["hasReadMany", "isLazy", "isTunedToBun"];

/** The exports of `#streams/lazy_side` on servers alone: calls are left out, and with them the uses of classes. */
const LEFT_OUT: readonly string[] = [
  "WatchedReadableFeed",
  "WatchedWritableFeed",
  "adoptOwnClosedPromise",
  "answerNode",
  "closeEndedSide",
  "closeIfEmpty",
  "findStates",
  "lightSideOf",
  "makeLockLazily",
  "makeNativeSideLazily",
  "withEndsOf",
];

/** The names that no module for pages may have. */
export const namesOfServers: readonly string[] = [...FALSE, ...LEFT_OUT];

/** The options of esbuild for sources that {@linkcode pageSources} changes. */
export const pageOptions: BuildOptions = {
  define: Object.fromEntries(FALSE.map((name) => [name, "false"])),
  pure: [...LEFT_OUT],
  minifySyntax: true,
};

/** An import of modules that have another form in pages, as `deno fmt` writes it. */
const IMPORT = /^import \{([^}]*)\} from "#streams\/(?:host|lazy_side)";$/gm;

/** The names that are taken from imports, as esbuild replaces and leaves out only what is not declared. */
const UNDECLARED = new RegExp(`\\b(?:${namesOfServers.join("|")}|staysLazy)\\b,?`, "g");

/**
 * Returns a plugin that makes sources smaller for pages: without what only servers do, by {@linkcode pageOptions}, and
 * with classes that extend the runtime's own ones by their names instead of by replaced globals.
 *
 * @param isPastInternal Whether parts load what they need of the parts below them, not all that `internal.ts` leads to.
 */
export function pageSources({ isPastInternal }: { isPastInternal: boolean }): Plugin {
  return {
    name: "page-sources",
    setup(builder) {
      builder.onLoad({ filter: /\blib[\\/].*\.ts$/ }, ({ path }) => {
        const source = forPages(readFileSync(path, "utf8"));
        const contents = isPastInternal ? pastFaces(source, path, "mod.ts") : source;
        return { contents, loader: "ts", resolveDir: dirname(path) };
      });
    },
  };
}

function forPages(source: string): string {
  const [, native] = /^replaceGlobal\((?:NAME|"\w+"), (\w+)\);$/m.exec(source) ?? [];
  const own = native === undefined ? source : source
    .replace(/^(?:replace|restore)Global\(.*\);$/gm, "")
    .replace(/ extends globalThis\.\w+/, ` extends ${native}`);
  return own
    .replace(IMPORT, (statement) => statement.replace(UNDECLARED, "").replace(/^import \{[\s,]*\}.*$/, ""))
    .replace(/^(?:const|let) isLazy = /m, "")
    .replace(/^isLazy &&= .*;$/m, "");
}
