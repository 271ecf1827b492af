import { cpSync, globSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import type { build as Build, Plugin } from "esbuild";
import { root } from "../root.ts";
import type { Sheet } from "./layout.ts";

// Deno imports what package.json lists as a development dependency only so.
const { build } = createRequire(import.meta.url)("esbuild") as { build: typeof Build };
const sources = join(root, ".ci/site/playground");

/** Returns the table of one format's levels. */
function levelsOf(format: string): string {
  return `<div class="levels ${format}">
<h3><label><input type="checkbox" id="write-${format}" checked> ${format}</label></h3>
<table>
<thead><tr><th scope="col">level</th><th scope="col" class="number">bytes</th><th scope="col" class="number">of all</th><th
scope="col" class="number">time</th></tr></thead>
<tbody id="levels-${format}"></tbody>
</table>
</div>`;
}

const BODY = `<h1>Playground</h1>
<p class="lead">What would your files weigh? Every level of brotli, zstd and gzip, by the codecs of
<code>millrace precompress</code>, compiled to WebAssembly, beside those of your browser. Nothing leaves this page.</p>
<p id="needs" class="note">The playground is a script with workers, which browsers run from a server only: not from a file,
and not where scripts are off. <code>npx @millrace/streams serve</code> serves this folder.</p>
<div id="tool" hidden>
<div class="inputs">
<label class="drop">
<input type="file" id="files" multiple>
<span><b>Drop files or a folder</b>, or choose some</span>
</label>
<form id="text-form">
<label for="text">or paste text, such as a page's source</label>
<textarea id="text" rows="4" wrap="off" spellcheck="false"></textarea>
<p><button>Compress</button> <button type="button" id="sample" class="quiet">Take a sample</button></p>
</form>
</div>
<p class="state"><output id="status"></output> <progress id="progress" aria-label="Levels done" hidden></progress>
<button type="button" id="cancel" class="quiet" hidden>Cancel</button></p>
<p id="left" class="note"></p>
<section id="results" hidden>
<h2>Sizes and times</h2>
<svg class="plot" role="img" aria-label="The size of each level by its time; the tables below have the figures"></svg>
<p class="note">Down and left is better. Times are those of one thread of this browser, beside other threads at work. As by
the command, a variant that saves less than 5% is not kept, and the file counts.</p>
<div class="all-levels">
${levelsOf("brotli")}
${levelsOf("zstd")}
${levelsOf("gzip")}
</div>
<h2>The command</h2>
<p>For a folder <code>dist</code> with these files, this writes the variants of the chosen formats and levels, of the same
sizes to the byte.</p>
<div class="command"><code id="command" tabindex="0"></code> <button type="button" id="copy">Copy</button></div>
<h2>Deltas between two versions</h2>
<p>Visitors who have the former version load only what differs (RFC 9842).</p>
<label class="drop small">
<input type="file" id="former" multiple>
<span><b>Drop the former version</b>: files of the same names, or one file for the one above</span>
</label>
<p id="former-names" class="note"></p>
<p id="folders" class="note" hidden>The former files are in the folder <code>previous</code>, by the same names.</p>
<div id="deltas" class="table" tabindex="0" hidden><table>
<thead><tr><th scope="col">file</th><th scope="col" class="number">bytes</th><th scope="col" class="number">brotli</th><th
scope="col" class="number">dcb</th><th scope="col" class="number">zstd</th><th scope="col" class="number">dcz</th></tr></thead>
<tbody></tbody>
</table></div>
</section>
</div>
<section id="race" hidden>
<h2>A race of streams</h2>
<p>10,000 chunks through the browser's own streams and through those of <code>@millrace/streams</code>, in turns, in a worker:
nine rounds of each. A bar is the median, a mark is a round.</p>
<p class="state"><button type="button">Start the race</button></p>
<svg class="plot" role="img" aria-label="Times of the race; the words below have the figures" hidden></svg>
<p><output class="note"></output></p>
</section>`;

/** Returns the playground's page. */
export function playgroundSheet(): Sheet {
  return {
    output: "playground.html",
    title: "Playground",
    description: "Compress your files at every level of brotli, zstd and gzip in this browser, and race streams.",
    kind: "wide",
    body: BODY,
    head: `<link rel="stylesheet" href="playground/playground.css">
<script type="module" src="playground/main.js"></script>
`,
  };
}

/** Bundles the playground's scripts, which take codecs and streams as the built package has them for browsers. */
export async function writePlayground(folder: string, dist: string): Promise<void> {
  const output = join(folder, "playground");
  await build({
    absWorkingDir: sources,
    entryPoints: ["main.ts", "codec_worker.ts", "race_worker.ts", "playground.css"],
    outdir: output,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022", "chrome120", "firefox120", "safari17"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    plugins: [builtPackage(), absentNode()],
  });
  const browser = join(dist, "browser");
  mkdirSync(join(output, "millrace"), { recursive: true });
  for (const path of ["codecs.js", "streams.js", "chunks", "wasm/THIRD_PARTY_NOTICES.txt"]) {
    cpSync(join(browser, path), join(output, "millrace", path), { recursive: true });
  }
  for (const path of globSync("wasm/*_encoder.wasm", { cwd: browser })) {
    cpSync(join(browser, path), join(output, "millrace/wasm", basename(path)));
  }
}

/** Keeps the imports of codecs and streams, resolved to the modules for pages without a bundler. */
function builtPackage(): Plugin {
  return {
    name: "built-package",
    setup(builder) {
      builder.onResolve({ filter: /\/lib\/(?:codecs|streams)\/mod\.ts$/ }, ({ path }) => {
        return { path: `./millrace/${/(\w+)\/mod\.ts$/.exec(path)![1]}.js`, external: true };
      });
    },
  };
}

/** Replaces Node's modules, which sources import but the page does not use. */
function absentNode(): Plugin {
  return {
    name: "absent-node",
    setup(builder) {
      builder.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "absent", sideEffects: false }));
      builder.onLoad({ filter: /./, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
    },
  };
}
