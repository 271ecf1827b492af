import type { build as Build, Plugin } from "esbuild";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { root } from "../support/runtime.ts";

// Deno imports what package.json lists as a development dependency only so.
const { build } = createRequire(import.meta.url)("esbuild") as { build: typeof Build };

/** The contents of one deploy of the site. */
export interface Release {
  /** Shown on the page. */
  readonly name: string;
  /** Whether the deploy has the former versions of the libraries. */
  readonly isFormer: boolean;
}

/** The site's bundles, by name without hash; `app` holds vue. */
export type Bundle = "app" | "react" | "three" | "lazy";

/** A deploy of the site in a folder. */
export interface BuiltSite {
  readonly folder: string;
  /** The path of each bundle below the folder, with its hash. */
  readonly bundles: Readonly<Record<Bundle, string>>;
  readonly style: string;
}

const sources: Readonly<Record<string, string>> = {
  "app.js": `
    import { computed, ref, version } from "vue";
    const show = (id, text) => document.getElementById(id).textContent = text;
    const count = ref(20);
    const double = computed(() => count.value * 2);
    count.value++;
    show("vue", \`vue \${version}: \${double.value}\`);
    show("release", RELEASE);
    document.getElementById("more").onclick = async () => show("lazy", (await import("./lazy.js")).text);
    const react = import("./react.js").then(({ render }) => render(document.getElementById("react")));
    const three = import("./three.js").then(({ text }) => show("three", text));
    await Promise.all([react, three]);
    document.documentElement.dataset.ready = RELEASE;`,
  "react.js": `
    import { createElement, useMemo, version } from "react";
    import { createRoot } from "react-dom/client";
    import { flushSync } from "react-dom";
    function Sum({ of }) {
      const sum = useMemo(() => of.reduce((a, b) => a + b), [of]);
      return createElement("b", null, \`react \${version}: \${sum}\`);
    }
    export function render(element) {
      flushSync(() => createRoot(element).render(createElement(Sum, { of: [20, 22] })));
    }`,
  "three.js": `
    import { Matrix4, PerspectiveCamera, REVISION, Scene, Vector3, WebGLRenderer } from "three";
    const turned = new Vector3(0, 42, 0).applyMatrix4(new Matrix4().makeRotationX(Math.PI / 2));
    export const text = \`three \${REVISION}: \${Math.round(turned.z)}\`;
    // Never called, but kept: a site uses more of it than this page.
    export const start = () => new WebGLRenderer().render(new Scene(), new PerspectiveCamera());`,
  "lazy.js": `
    export const text = \`lazy \${RELEASE}\`;`,
  "style.css": `
    :root { color: rgb(1, 2, 3) }
    ${Array.from({ length: 200 }, (_, i) => `.row-${i} { order: ${i * 7 % 200} }`).join("\n")}`,
};

const pages: Readonly<Record<string, string>> = {
  "index.html":
    `<div id="react"></div><p id="vue"></p><p id="three"></p><button id="more">more</button><p id="lazy"></p>`,
  "404.html": `<h1>There is no such page</h1>`,
  "docs/index.html": `<h1>The documents</h1>`,
};

/** Builds a deploy of a site into `folder` as build tools do: bundles with a hash in their names, split where they load. */
export async function buildSite(folder: string, { name, isFormer }: Release): Promise<BuiltSite> {
  const source = join(folder, "../source");
  await mkdir(source, { recursive: true });
  for (const [path, text] of Object.entries(sources)) await writeFile(join(source, path), text);
  const { metafile } = await build({
    absWorkingDir: source,
    nodePaths: [join(root, "node_modules")],
    entryPoints: ["app.js", "style.css"],
    outdir: join(folder, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    // Names are kept, as react-dom is published: minified ones change from release to release, and deltas double.
    minifyWhitespace: true,
    minifySyntax: true,
    format: "esm",
    target: "es2022",
    define: {
      RELEASE: JSON.stringify(name),
      "process.env.NODE_ENV": `"production"`,
      __VUE_OPTIONS_API__: "true",
      __VUE_PROD_DEVTOOLS__: "false",
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
    },
    plugins: [libraries(isFormer)],
    metafile: true,
    logLevel: "error",
  });
  const outputs = Object.keys(metafile.outputs).map((path) => `assets/${basename(path)}`);
  const pathOf = (start: string): string => outputs.find((path) => path.startsWith(`assets/${start}-`))!;
  const site = {
    folder,
    bundles: { app: pathOf("app"), react: pathOf("react"), three: pathOf("three"), lazy: pathOf("lazy") },
    style: pathOf("style"),
  };
  for (const [path, body] of Object.entries(pages)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), page(body, site));
  }
  await writeFile(join(folder, "tone.wav"), tone());
  return site;
}

function page(body: string, { bundles, style }: BuiltSite): string {
  const script = body.includes("react") ? `<script type="module" src="/${bundles.app}"></script>` : "";
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8"><title>Mill</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/${style}">
<p id="release"></p>
${body}
${script}
`;
}

/** Takes the libraries' former versions, and gives react the version of react-dom, which insists on it. */
function libraries(isFormer: boolean): Plugin {
  const suffix = isFormer ? "-prev" : "";
  return {
    name: "libraries",
    setup(builder): void {
      const { resolve } = builder;
      builder.onResolve({ filter: /^(react-dom|three|vue)(\/client)?$/ }, ({ path, kind, pluginData }) => {
        if (pluginData === "resolved") return undefined;
        const [, library, rest = ""] = /^([^/]+)(.*)$/.exec(path)!;
        return resolve(`${library}${suffix}${rest}`, { kind, resolveDir: root, pluginData: "resolved" });
      });
      builder.onResolve({ filter: /^react$/ }, ({ pluginData }) => {
        return pluginData === "resolved" ? undefined : { path: "react", namespace: "aligned" };
      });
      builder.onLoad({ filter: /.*/, namespace: "aligned" }, async () => {
        const react = await resolve("react", { kind: "require-call", resolveDir: root, pluginData: "resolved" });
        const { version } = createRequire(import.meta.url)(`react-dom${suffix}/package.json`) as { version: string };
        return {
          contents: `module.exports = { ...require(${JSON.stringify(react.path)}), version: "${version}" };`,
          resolveDir: root,
        };
      });
    },
  };
}

/** Returns a second of a tone at 8 kHz, as WAVE with 8 bits a sample. */
function tone(): Uint8Array {
  const samples = 8000;
  const head = new DataView(new ArrayBuffer(44));
  const text = (at: number, name: string): void => {
    for (let i = 0; i < 4; i++) head.setUint8(at + i, name.charCodeAt(i));
  };
  text(0, "RIFF");
  head.setUint32(4, 36 + samples, true);
  text(8, "WAVE");
  text(12, "fmt ");
  head.setUint32(16, 16, true);
  head.setUint16(20, 1, true); // PCM
  head.setUint16(22, 1, true); // one channel
  head.setUint32(24, samples, true);
  head.setUint32(28, samples, true);
  head.setUint16(32, 1, true);
  head.setUint16(34, 8, true);
  text(36, "data");
  head.setUint32(40, samples, true);
  const wave = Uint8Array.from({ length: samples }, (_, i) => 128 + 60 * Math.sin(i * 0.35));
  return new Uint8Array([...new Uint8Array(head.buffer), ...wave]);
}
