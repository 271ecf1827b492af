/**
 * A plugin for Vite, Rollup and Rolldown that compresses the output of a build, by `precompress()`.
 *
 * @example In vite.config.ts
 * ```ts
 * import { precompress } from "@millrace/streams/vite";
 * import { defineConfig } from "vite";
 *
 * export default defineConfig({ plugins: [precompress()] });
 * ```
 *
 * @module
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { hashedNames } from "../names/mod.ts";
import { cleanPrecompressed } from "../precompress/mod.ts";
import {
  compressOutput,
  hasHash,
  moment,
  Output,
  pluginOptions,
  type PrecompressPluginOptions,
  type Tool,
} from "./compress_output.ts";

export type { PrecompressPluginOptions } from "./compress_output.ts";

/**
 * A plugin of Vite, Rollup or Rolldown. Its hooks are called by the tool.
 *
 * @example Only where it is wanted
 * ```ts
 * import { precompress, type PrecompressPlugin } from "@millrace/streams/vite";
 * import process from "node:process";
 *
 * const plugins: PrecompressPlugin[] = process.env.PREVIEW ? [] : [precompress()];
 * console.log(plugins[0]?.name, plugins[0]?.apply); // millrace:precompress build
 * ```
 */
export interface PrecompressPlugin {
  /** The plugin's name in messages of the tool. */
  readonly name: string;
  /** Makes Vite ignore the plugin while it serves for development. */
  readonly apply: "build";
  /** The hooks of an Astro integration, which the plugin is, too. */
  readonly hooks: {
    "astro:config:done"(told: {
      readonly config: { readonly root: URL; readonly publicDir?: URL; readonly build: { assets: string } };
    }): void;
    "astro:build:done"(told: {
      readonly dir: URL;
      readonly logger: { info(text: string): void; warn(text: string): void };
    }): Promise<void>;
  };
}

/** The part of Astro's configuration used here. */
type AstroConfig = Parameters<PrecompressPlugin["hooks"]["astro:config:done"]>[0]["config"];

/** The members of plugins that Vite knows, and Rollup and Rolldown ignore. */
interface ViteHooks extends PrecompressPlugin {
  /** Whether the builds of all environments share the plugin. */
  readonly sharedDuringBuild: true;
  /** The position after plugins that write pages in hooks of the same kind. */
  readonly enforce: "post";
  applyToEnvironment(environment: { readonly config: { readonly consumer: string } }): boolean;
  config(): { readonly worker: { readonly plugins: () => Hooks[] } };
  configResolved(this: { readonly meta?: { readonly viteVersion?: string } } | void, config: ViteConfig): void;
  /** Called from Vite 7 on, by its command and by frameworks. */
  readonly buildApp: { readonly order: "post"; handler(): Promise<void> };
}

/** The part of Vite's configuration used here. */
interface ViteConfig {
  readonly root: string;
  readonly logger: Tool["logger"] & { info(text: string): void };
  readonly build?: { readonly lib?: unknown };
  readonly builder?: unknown;
  readonly plugins?: { readonly name: string; readonly buildApp?: { readonly order: "pre"; handler(): void } }[];
}

const BEHIND = "compress the whole site once all is built: millrace precompress ";
/** Frameworks that write pages after Vite has built for browsers, by the names of their plugins, with advice. */
const LATER_PAGES: readonly (readonly [plugins: RegExp, framework: string, wayOut: string])[] = [
  [/^astro:/, "Astro", "name it among Astro's integrations instead"],
  [/^nuxt:/, "Nuxt", BEHIND + ".output/public"],
  [/^react-router(?:$|:)/, "React Router", BEHIND + "build/client"],
  [/^vite-plugin-qwik-city/, "Qwik City", BEHIND + "dist"],
  [/^vite-plugin-sveltekit/, "SvelteKit", BEHIND + "build"],
  [/^vike(?:$|:)/, "Vike", BEHIND + "dist/client"],
  [/^vitepress(?:$|:)/, "VitePress", BEHIND + ".vitepress/dist"],
  [/^vite-ssg$/, "Vite SSG", BEHIND + "dist"],
];
/** The frameworks among them that write their pages to Vite's output folder before its builder ends. */
const WITHIN_BUILDER: ReadonlySet<string> = new Set(["React Router", "Vike"]);
/** The warnings so far, since a framework resolves the configuration for each of its builds. */
const warned = new Set<string>();

/** Returns a warning about pages of a framework that the plugin will miss; undefined without such a framework. */
function warningOf(names: readonly string[], endsWithBuilder: boolean): string | undefined {
  const later = LATER_PAGES.find(([plugins]) => names.some((name) => plugins.test(name)));
  if (!later || endsWithBuilder && WITHIN_BUILDER.has(later[1])) return undefined;
  const told = `pages that ${later[1]} writes after that are left as they are`;
  return `millrace:precompress compresses what Vite writes; ${told}: ${later[2]}`;
}

/** The hooks of Vite, Rollup and Rolldown. */
interface Hooks {
  readonly name: string;
  options?<Options extends { readonly plugins?: unknown }>(options: Options): Options;
  writeBundle?(
    this: { readonly meta: { readonly watchMode: boolean } },
    options: BundleOptions,
    bundle: Readonly<Record<string, BundledFile>>,
  ): Promise<void>;
  readonly closeBundle?: {
    readonly order: "post";
    readonly sequential: true;
    handler(
      this: Tool["logger"] & { readonly meta: { readonly watchMode: boolean } },
      error?: unknown,
    ): Promise<void>;
  };
}

/**
 * Returns a plugin that compresses the output folder after a build, and records in the manifest which names have a
 * hash, so that the static handler need not guess. In Vite, only output for browsers is compressed, not that for
 * development, servers or libraries. A build in watch mode is not compressed, and removes variants of earlier builds.
 *
 * As an integration of Astro, it compresses the whole site, including pages. Files below `build.assets` with a
 * hash of Astro's layout in their names are immutable.
 *
 * If a file cannot be compressed, the build fails. In Rollup and Rolldown, files are compressed in `bundle.close()`.
 *
 * @param options The options of `precompress()`: see {@linkcode PrecompressPluginOptions}.
 * @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range.
 * @example In rollup.config.js
 * ```js
 * import { precompress } from "@millrace/streams/vite";
 *
 * export default {
 *   input: "src/main.js",
 *   output: { dir: "dist", entryFileNames: "[name]-[hash].js" },
 *   plugins: [precompress({ previous: "deployed" })],
 * };
 * ```
 */
export function precompress(options: PrecompressPluginOptions = {}): PrecompressPlugin {
  const checked = pluginOptions(options);
  const output = new Output();
  /** The names of workers' files, which Vite builds separately and adds to the bundle unchanged. */
  const workers = new Map<string, boolean>();
  let tool: Omit<Tool, "since"> | undefined;
  let since = moment();
  let isLibrary = false;
  /** The folders that were compressed when their bundle was closed. */
  const done = new Set<string>();
  let astro: AstroConfig;
  const hashes: Hashes = new Map();
  /** Whether Vite builds an app: then pages may be written after a bundle is closed. */
  let isApp = false;
  const plugin: ViteHooks & Hooks = {
    name: "millrace:precompress",
    apply: "build",
    sharedDuringBuild: true,
    enforce: "post",
    applyToEnvironment: ({ config }) => config.consumer === "client",
    config: () => ({ worker: { plugins: () => [workerPlugin(workers)] } }),
    options(given) {
      since = moment();
      return withFirst((_options, bundle) => noteHashes(hashes, bundle), given);
    },
    configResolved({ root, logger, build, builder, plugins = [] }) {
      const names = plugins.map(({ name }) => name);
      // The program calls Vite, and is not a plugin.
      if (/\bvite-ssg\b/.test(process.argv[1] ?? "")) names.push("vite-ssg");
      const warning = warningOf(names, builder !== undefined && this?.meta?.viteVersion !== undefined);
      if (warning !== undefined && !warned.has(root + warning)) logger.warn(warning);
      if (warning !== undefined) warned.add(root + warning);
      isLibrary = Boolean(build?.lib);
      if (isLibrary) {
        logger.info("millrace:precompress leaves libraries to the sites that serve them (build.lib is set)");
      }
      tool = { root, option: "build.outDir", logger };
      isApp = false; // an earlier build may have failed
      const handler = (): void => void (isApp = true);
      plugins.unshift({ name: "millrace:precompress-app", buildApp: { order: "pre", handler } });
    },
    async writeBundle(written, bundle) {
      const folder = written.dir ?? dirname(written.file!);
      // Variants of an earlier build would have outdated content.
      if (this.meta.watchMode && checked.out === undefined) await cleanPrecompressed(folder);
      output.addFolder(folder);
      for (const file of Object.values(bundle)) {
        output.add(folder, file.fileName, workers.get(file.fileName) ?? isNamedByHash(file, written, hashes));
      }
    },
    closeBundle: {
      order: "post",
      sequential: true,
      async handler(error) {
        // The output of a failed build does not belong to the next one.
        if (error !== undefined || isLibrary || this.meta.watchMode) return void output.takeFolders();
        const ownTool = { root: process.cwd(), option: "output.dir", logger: this };
        const folders = await compressOutput(output, checked, { since, ...tool ?? ownTool, isFirst: isApp });
        for (const folder of folders) done.add(folder);
      },
    },
    buildApp: {
      order: "post",
      async handler() {
        isApp = false;
        // Since then, frameworks and other plugins have written pages and files there.
        for (const folder of done) if (existsSync(folder)) output.addFolder(folder); // may be left by an earlier build
        done.clear();
        await compressOutput(output, checked, { since, ...tool!, isAgain: true });
      },
    },
    hooks: {
      "astro:config:done"({ config }) {
        since = moment();
        astro = config;
      },
      async "astro:build:done"({ dir, logger }) {
        output.addFolder(fileURLToPath(dir));
        const isHashed = (path: string) => isNamedByAstro(path, astro);
        const root = fileURLToPath(astro.root);
        await compressOutput(output, checked, { root, since, option: "outDir", logger, isHashed });
      },
    },
  };
  return plugin;
}

function workerPlugin(names: Map<string, boolean>): Hooks {
  const note: BundleHandler = (options, bundle) => {
    const hashes: Hashes = new Map();
    noteHashes(hashes, bundle);
    for (const file of Object.values(bundle)) names.set(file.fileName, isNamedByHash(file, options, hashes));
  };
  return { name: "millrace:precompress-workers", options: (given) => withFirst(note, given) };
}

/** Returns a build's options with a hook that sees the bundle before any plugin can rename a file. */
function withFirst<Options extends { readonly plugins?: unknown }>(handler: BundleHandler, options: Options): Options {
  const first = { name: "millrace:precompress-names", generateBundle: { order: "pre", handler } };
  return { ...options, plugins: [first, options.plugins] };
}

/** Finds hashes in Astro's folder of assets, by the layout alone. */
const hashInAstro = hashedNames([]);

/** Whether Astro has named a file by a hash: its hook has only files. A source map's hash is its script's. */
function isNamedByAstro(path: string, { publicDir, build: { assets } }: AstroConfig): boolean {
  if (!path.startsWith(`${assets}/`) || path.endsWith(".map")) return false;
  if (publicDir !== undefined && existsSync(join(fileURLToPath(publicDir), path))) return false;
  return hashInAstro(`_astro${path.slice(assets.length)}`) !== undefined;
}

/** A file of a bundle, as Rollup, Rolldown and Vite describe it to plugins. */
interface BundledFile {
  readonly type: "asset" | "chunk";
  /** The path below the output folder. */
  readonly fileName: string;
  /** A chunk's name with a placeholder for the hash, if it has one. */
  readonly preliminaryFileName?: string;
  /** The names from which the tool made an asset's name; empty if a plugin gave the name. */
  readonly names?: readonly string[];
}

type BundleHandler = (options: BundleOptions, bundle: Readonly<Record<string, BundledFile>>) => void;

/** The options of an output, as Rollup, Rolldown and Vite describe them. */
interface BundleOptions {
  readonly dir?: string;
  /** The path of the only file, instead of `dir`. */
  readonly file?: string;
  /** The pattern for names of assets. */
  readonly assetFileNames?: string | ((asset: BundledFile) => string);
  /** The characters of hashes; base64url by default. */
  readonly hashCharacters?: "base64" | "base36" | "hex";
}

/**
 * Returns a regular expression of hashes. In base64url, 0.4% of them read as a word or a number, which is taken for a
 * part of an asset's name that a plugin chose.
 */
function hashOf(length: number, characters: BundleOptions["hashCharacters"] = "base64"): string {
  if (characters !== "base64") return `[\\w-]{${length}}`;
  const [more, rest] = [`{${length}}`, `{${length - 1}}`];
  return `(?!(?:[a-z_-]${more}|[A-Z][a-z_-]${rest}|[A-Z_-]${more}|[\\d_-]${more}))[\\w-]${more}`;
}

/** A placeholder for a hash in a preliminary name, as long as the hash. */
const PLACEHOLDER = /!~\{[\w$]+\}~/g;

/** The hashes that a tool has put into the names of chunks, of all outputs, by preliminary name. */
type Hashes = Map<string, (readonly string[])[]>;

/** Notes the hashes in the names of a bundle. */
function noteHashes(hashes: Hashes, bundle: Readonly<Record<string, BundledFile>>): void {
  for (const [name, { preliminaryFileName = "" }] of Object.entries(bundle)) {
    const placeholders = preliminaryFileName.match(PLACEHOLDER) ?? [];
    const rest = preliminaryFileName.split(PLACEHOLDER).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const source = rest.reduce((before, text, i) => `${before}([\\w-]{${placeholders[i - 1]!.length}})${text}`);
    const found = new RegExp(`(?:^|/)${source}$`).exec(name)?.slice(1) ?? [];
    if (found.length > 0) hashes.set(preliminaryFileName, [...hashes.get(preliminaryFileName) ?? [], found]);
  }
}

function isNamedByHash(file: BundledFile, { assetFileNames, hashCharacters }: BundleOptions, hashes: Hashes): boolean {
  const { type, fileName, preliminaryFileName = "", names = [] } = file;
  if (type === "chunk") {
    return hashes.get(preliminaryFileName)?.some((own) => own.every((hash) => fileName.includes(hash))) ?? false;
  }
  // A plugin chose the name, and the tool adds no hash to it.
  if (names.length === 0 || assetFileNames === undefined) return false;
  const pattern = typeof assetFileNames === "function" ? assetFileNames(file) : assetFileNames;
  return hasHash(fileName, pattern, (length) => hashOf(length, hashCharacters));
}
