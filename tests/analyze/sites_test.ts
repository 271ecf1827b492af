import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { getRequestListener } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { noCaddy, startCaddy } from "../e2e/same_tree/caddy.ts";
import { noNginx, startNginx } from "../e2e/same_tree/nginx.ts";
import { serveOnHttp } from "../static/served_handler.ts";
import { inFolder } from "../support/folders.ts";
import { analyzed, findingsOf, writeSite } from "./analyzed_site.ts";

type Middleware = (request: unknown, response: unknown, next?: () => void) => void;
type Sirv = (folder: string, options?: object) => RequestListener;
type Express = { (): { use(...handlers: unknown[]): RequestListener }; static(folder: string): Middleware };

// Without types here, and as ES modules they do not load on Deno.
const require = createRequire(import.meta.url);
const sirv = require("sirv") as Sirv;
const express = require("express") as Express;
const compression = require("compression") as () => Middleware;

/** Options that leave the globals of the process to its other test files. */
const unchanged = { overrideGlobalObjects: false };

/** A server of the site, and the findings that are right for it. */
interface Case {
  readonly name: string;
  /** Whether the site is precompressed. */
  readonly isMade: boolean;
  readonly listener: (folder: string) => RequestListener | Promise<RequestListener>;
  readonly page: string;
  readonly script: string;
  readonly style: string;
  readonly picture: string;
}

const cases: readonly Case[] = [
  {
    name: "sirv by default: neither variants nor tags, and it knows no conditions",
    isMade: false,
    listener: (folder) => sirv(folder),
    page: "never-304 uncompressed",
    script: "asked-again never-304 uncompressed whole-updates",
    style: "never-304 uncompressed",
    picture: "never-304",
  },
  {
    name: "sirv that has everything kept for a year",
    isMade: true,
    listener: (folder) => sirv(folder, { etag: true, gzip: true, brotli: true, immutable: true, maxAge: 31_536_000 }),
    page: "kept-too-long",
    script: "whole-updates",
    style: "kept-too-long",
    picture: "kept-too-long",
  },
  {
    name: "Express: tags, and nothing compressed",
    isMade: false,
    listener: (folder) => express().use(express.static(folder)),
    page: "uncompressed",
    script: "asked-again uncompressed whole-updates",
    style: "uncompressed",
    picture: "",
  },
  {
    name: "Express with compression, which compresses quickly",
    isMade: false,
    listener: (folder) => express().use(compression(), express.static(folder)),
    page: "",
    script: "asked-again compressed-badly whole-updates",
    style: "",
    picture: "",
  },
  {
    name: "Hono's serveStatic, with dates that it does not heed",
    isMade: false,
    listener: (root) =>
      getRequestListener(new Hono().use("*", serveStatic({ root })).fetch, unchanged) as RequestListener,
    page: "never-304 uncompressed",
    script: "asked-again never-304 uncompressed whole-updates",
    style: "never-304 uncompressed",
    picture: "never-304",
  },
  {
    name: "Hono's serveStatic with variants",
    isMade: true,
    listener: (root) =>
      getRequestListener(
        new Hono().use("*", serveStatic({ root, precompressed: true })).fetch,
        unchanged,
      ) as RequestListener,
    page: "never-304",
    script: "asked-again never-304 whole-updates",
    style: "never-304",
    picture: "never-304",
  },
  {
    name: "our handler over a folder as it was built",
    isMade: false,
    listener: async (folder) => (await createStaticHandler(folder, { watch: false })).node,
    page: "uncompressed",
    script: "uncompressed whole-updates",
    style: "uncompressed",
    picture: "",
  },
  {
    name: "our handler over a precompressed folder",
    isMade: true,
    listener: async (folder) => (await createStaticHandler(folder, { watch: false })).node,
    page: "",
    script: "",
    style: "",
    picture: "",
  },
];

for (const { name, isMade, listener, page, script, style, picture } of cases) {
  test(`analyze() of ${name}`, () =>
    inFolder(async (folder) => {
      await writeSite(folder);
      if (isMade) await precompress(folder, { jobs: 1, formats: ["brotli"] });
      const { port, close } = await serveOnHttp(await listener(folder));
      try {
        const analysis = await analyzed(`http://127.0.0.1:${port}/`);
        assert.deepEqual(findingsOf(analysis), {
          "app-9d8b7a6f.js": script,
          "index.html": page,
          "picture.png": picture,
          "style.css": style,
        });
        assert.deepEqual([analysis.elsewhere, analysis.limits], [1, []]);
        assert.ok(isMade ? analysis.best === analysis.sent : analysis.best < analysis.sent);
      } finally {
        await close();
      }
    }));
}

const servers = [
  { name: "nginx", missing: noNginx, start: (folder: string, tree: string) => startNginx("nginx.conf", folder, tree) },
  { name: "Caddy", missing: noCaddy, start: (folder: string, tree: string) => startCaddy("Caddyfile", folder, tree) },
];

for (const { name, missing, start } of servers) {
  test(
    `analyze() of ${name} by our recipe, before and after precompress`,
    { skip: missing },
    () =>
      inFolder(async (folder) => {
        const site = join(folder, "site");
        await writeSite(site);
        for (const isMade of [false, true]) {
          if (isMade) await precompress(site, { jobs: 1, formats: ["brotli"] });
          const server = await start(join(folder, `server-${isMade}`), site);
          try {
            const bare = isMade ? "" : "uncompressed";
            assert.deepEqual(findingsOf(await analyzed(`http://127.0.0.1:${server.port}/`)), {
              "app-9d8b7a6f.js": `${bare} whole-updates`.trim(),
              "index.html": bare,
              "picture.png": "",
              "style.css": bare,
            });
          } finally {
            await server.close();
          }
        }
      }),
  );
}
