import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { root } from "./consumer.ts";

/** A registry that serves this repository's package as JSR would after publishing. */
export interface JsrRegistry extends AsyncDisposable {
  /** For the environment variable `JSR_URL`. */
  readonly url: string;
  readonly version: string;
}

const types: Readonly<Record<string, string>> = {
  ".ts": "application/typescript",
  ".js": "text/javascript",
  ".json": "application/json",
};

/**
 * Starts a registry on a free port, with the files that `deno.json` publishes.
 *
 * @see {@link https://jsr.io/docs/api#jsr-registry-api}
 */
export async function startJsrRegistry(): Promise<JsrRegistry> {
  const { name, version, exports, imports = {}, publish } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  const patterns = (publish.include as string[]).map((path) => path.endsWith("/") ? `${path}**` : path);
  const files = new Map(
    globSync(patterns, { cwd: root }).filter((path) => statSync(join(root, path)).isFile())
      .map((path) => [`/${path.replaceAll("\\", "/")}`, published(path, imports)]),
  );
  const manifest = Object.fromEntries(
    [...files].map(([path, bytes]) => [path, { size: bytes.length, checksum: `sha256-${sha256(bytes)}` }]),
  );
  const [scope, short] = name.slice(1).split("/");
  const documents = new Map<string, unknown>([
    [`/${name}/meta.json`, { scope, name: short, latest: version, versions: { [version]: {} } }],
    [`/${name}/${version}_meta.json`, { manifest, exports }],
  ]);
  const server = createServer(({ url = "/" }, response) => {
    const document = documents.get(url);
    if (document) return send(response, JSON.stringify(document), "application/json");
    const prefix = `/${name}/${version}`;
    const bytes = url.startsWith(`${prefix}/`) ? files.get(url.slice(prefix.length)) : undefined;
    if (bytes) return send(response, bytes, types[/\.\w+$/.exec(url)?.[0] ?? ""] ?? "text/plain");
    response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    version,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** A file as publishing leaves it: specifiers that the import map knows are replaced by what they stand for. */
function published(path: string, imports: Readonly<Record<string, string>>): Uint8Array {
  const bytes = readFileSync(join(root, path));
  if (!path.endsWith(".ts")) return bytes;
  const specifiers = /(\bfrom\s*|\bimport\s*\(\s*|^import\s*)"([^"]+)"/gm;
  return Buffer.from(
    bytes.toString().replace(specifiers, (whole, before, specifier) => {
      const name = Object.keys(imports).find((name) => specifier === name || specifier.startsWith(`${name}/`));
      return name === undefined ? whole : `${before}"${imports[name]}${specifier.slice(name.length)}"`;
    }),
  );
}

function send(response: ServerResponse, body: string | Uint8Array, type: string): void {
  response.writeHead(200, { "content-type": type }).end(body);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
