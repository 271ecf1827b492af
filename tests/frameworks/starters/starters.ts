/** An application as its framework's own command makes it, or as small as the framework allows. */
export interface Starter {
  /** The command that creates its folder, followed by the name; by default `npm init -y`. */
  readonly make?: string;
  /** Packages to install beside those that `make` names. */
  readonly packages?: string;
  /** Files to write, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Replaces text in files, by path. */
  readonly edits?: Readonly<Record<string, readonly (readonly [RegExp, string])[]>>;
  /** The text to change between two deploys: a file, and the text in it. */
  readonly says: readonly [path: string, text: string];
  /** The command that builds it. */
  readonly build: string;
  /** Arguments of `millrace precompress` after the build; none if a plugin does it. */
  readonly precompress?: readonly string[];
  /** The folder of the files. */
  readonly output: string;
  /** Paths that the files are served below. */
  readonly basePath?: string;
  /** A module whose `handler` of `node:http` answers all else; none for a site of files alone. */
  readonly handler?: string;
  /** Whether names keep a part when their hash changes, so that there are deltas. */
  readonly hasDeltas: boolean;
}

/** The lines that a Vite project takes: these two, and a script that serves `dist`. */
const vitePlugin = [
  [/^(?=import)/, 'import { precompress } from "@millrace/streams/vite"\n'],
  [/plugins: \[/, 'plugins: [precompress({ previous: "deployed" }), '],
] as const;

const vite = (template: string, says: readonly [string, string]): Starter => ({
  make: `npm create --yes vite@latest NAME -- --template ${template} --no-interactive`,
  edits: { "vite.config.ts": vitePlugin },
  says,
  build: "npx vite build",
  output: "dist",
  hasDeltas: true,
});

/** Every starter, by name. */
export const starters: Readonly<Record<string, Starter>> = {
  "vite-react-ts": vite("react-ts", ["src/App.tsx", "Get started"]),
  "vite-vue-ts": vite("vue-ts", ["src/components/HelloWorld.vue", "Get started"]),
  "vite-svelte-ts": vite("svelte-ts", ["src/App.svelte", "Get started"]),

  sveltekit: {
    make: "npx --yes sv create NAME --template minimal --types ts --no-add-ons --no-install --no-dir-check",
    packages: "@sveltejs/adapter-node@5",
    edits: { "vite.config.ts": [[/adapter-auto/, "adapter-node"]] },
    says: ["src/routes/+page.svelte", "Welcome to SvelteKit"],
    build: "npx vite build",
    precompress: ["build/client", "--immutable", "_app/immutable/**", "--previous", "deployed"],
    output: "build/client",
    handler: 'export { handler } from "./build/handler.js";',
    hasDeltas: true,
  },

  astro: {
    packages: "astro @astrojs/node",
    files: {
      "astro.config.mjs": `import node from "@astrojs/node";
export default { output: "server", adapter: node({ mode: "middleware" }) };
`,
      "src/pages/index.astro": `<html lang="en"><head><title>Mill</title></head><body><h1>The mill turns</h1>
<script src="../mill.js"></script></body></html>
`,
      "src/mill.js": `const mills = ${JSON.stringify(Array.from({ length: 400 }, (_, i) => `mill ${i * i}`))};
document.body.append("Get started " + mills.join());
`,
    },
    says: ["src/mill.js", "Get started"],
    build: "npx astro build",
    precompress: ["dist/client", "--immutable", "_astro/**", "--previous", "deployed"],
    output: "dist/client",
    handler: 'export { handler } from "./dist/server/entry.mjs";',
    hasDeltas: true,
  },

  "react-router": {
    packages: "react-router @react-router/node @react-router/serve isbot react react-dom @react-router/dev vite",
    files: {
      "vite.config.ts": `import { reactRouter } from "@react-router/dev/vite";
import { precompress } from "@millrace/streams/vite";
export default { plugins: [reactRouter(), precompress({ previous: "deployed" })] };
`,
      "app/root.tsx": `import { Links, Meta, Outlet, Scripts } from "react-router";
export default function App() {
  return (
    <html lang="en">
      <head><Meta /><Links /></head>
      <body><Outlet /><Scripts /></body>
    </html>
  );
}
`,
      "app/routes.ts": 'import { index } from "@react-router/dev/routes";\nexport default [index("home.tsx")];\n',
      "app/home.tsx": `const mills = ${JSON.stringify(Array.from({ length: 400 }, (_, i) => `mill ${i * i}`))};
export default function Home() { return <h1>Get started {mills.join()}</h1>; }
`,
    },
    says: ["app/home.tsx", "Get started"],
    build: "npx react-router build",
    output: "build/client",
    handler: `import { createRequestListener } from "@react-router/node";
import * as build from "./build/server/index.js";
export const handler = createRequestListener({ build });
`,
    hasDeltas: true,
  },

  next: {
    make: "npx --yes create-next-app@latest NAME --ts --no-eslint --no-tailwind --app --no-src-dir --skip-install " +
      "--disable-git --use-npm --import-alias @/* --no-react-compiler --no-linter --no-agents-md",
    files: {
      "next.config.ts": 'export default { output: "standalone" };\n',
      // Without the fonts that its own one fetches.
      "app/layout.tsx": `export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
      "app/page.tsx": `"use client";
const mills = ${JSON.stringify(Array.from({ length: 400 }, (_, i) => `mill ${i * i}`))};
export default function Home() { return <h1>Get started {mills.join()}</h1>; }
`,
    },
    says: ["app/page.tsx", "Get started"],
    build: "npx next build --webpack",
    precompress: [".next/static", "--immutable", "**", "--previous", "deployed"],
    output: ".next/static",
    basePath: "/_next/static/",
    handler: `import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
process.chdir(".next/standalone");
const { config } = JSON.parse(readFileSync(".next/required-server-files.json", "utf8"));
process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(config);
process.env.NODE_ENV = "production";
const next = createRequire(process.cwd() + "/server.js")("next");
const app = next({ dev: false, dir: process.cwd(), conf: config });
await app.prepare();
const respond = app.getRequestHandler();
export const handler = (req, res) => respond(req, res);
`,
    hasDeltas: true,
  },

  nuxt: {
    packages: "nuxt",
    files: {
      "nuxt.config.ts": 'export default defineNuxtConfig({ nitro: { preset: "node" } });\n',
      "app/app.vue": `<template><h1>Get started {{ mills }}</h1></template>
<script setup>
const mills = ${JSON.stringify(Array.from({ length: 400 }, (_, i) => `mill ${i * i}`))}.join();
</script>
`,
    },
    says: ["app/app.vue", "Get started"],
    build: "npx nuxt build",
    precompress: [".output/public", "--immutable", "_nuxt/*", "--previous", "deployed"],
    output: ".output/public",
    handler: 'export { listener as handler } from "./.output/server/index.mjs";',
    hasDeltas: false,
  },

  angular: {
    make: "npx --yes @angular/cli@latest new NAME --skip-install --skip-git --defaults --ssr=false --ai-config=none",
    says: ["src/app/app.html", "Hello, "],
    build: "npx ng build",
    precompress: [
      "dist/angular/browser",
      "--immutable",
      "{main,chunk,polyfills,scripts,styles}-*.{js,css}",
      "--previous",
      "deployed",
    ],
    output: "dist/angular/browser",
    hasDeltas: true,
  },
};
