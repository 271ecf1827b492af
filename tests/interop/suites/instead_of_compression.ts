/**
 * Replaces the package `compression` by this one in its own tests: `node --import` loads this module in its folder.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { createCompression } from "../../../lib/compression/mod.ts";

interface TheirOptions {
  readonly threshold?: number | string;
  readonly filter?: (req: IncomingMessage, res: ServerResponse) => boolean;
}

type Middleware = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

const require = createRequire(join(process.cwd(), "package.json"));
const path = join(process.cwd(), "index.js");
const theirs = require(path) as { filter: unknown };
const bytes = require("bytes") as { parse(size: number | string): number | null };
await createCompression().ready();

function compression(options: TheirOptions | null): Middleware {
  const { threshold, filter } = options ?? {};
  let asked: [IncomingMessage, ServerResponse];
  const ours = createCompression({
    codings: ["br", "gzip"],
    ...(threshold !== undefined && { threshold: bytes.parse(threshold) ?? 1024 }),
    ...(filter !== undefined && { filter: () => filter(...asked) }),
  });
  return (req, res, next) => {
    asked = [req, res];
    ours.node(req, res, next);
  };
}

require.cache[path]!.exports = Object.assign(compression, { filter: theirs.filter });
