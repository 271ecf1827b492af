import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { root } from "../support/runtime.ts";
import { packTarball } from "./tarball.ts";

/** A registry that takes packages from `npm publish` and serves them to npm, Bun and Deno. */
export interface NpmRegistry extends AsyncDisposable {
  /** The value of `--registry` and of the environment variable `NPM_CONFIG_REGISTRY`. */
  readonly url: string;
  /** The credentials for `npm publish`, as a line of `.npmrc`. */
  readonly npmrc: string;
  /** The requested names that neither were published nor are installed here. */
  readonly missing: ReadonlySet<string>;
}

/** All versions of a package, as npm calls its document. */
interface Packument {
  readonly name: string;
  readonly "dist-tags": Record<string, string>;
  readonly versions: Record<string, { dist: { tarball: string } }>;
}

/** The body of `npm publish`: a packument of the one new version, with its archive in base64. */
type Publication = Packument & { readonly _attachments: Record<string, { data: string }> };

const TOKEN = "a-token-of-this-test";

/**
 * Starts a registry on a free port. What was not published to it is served as it is installed in `node_modules`, so
 * that dependencies need no network.
 *
 * @see {@link https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md}
 */
export async function startNpmRegistry(): Promise<NpmRegistry> {
  const packuments = new Map<string, Packument>();
  const archives = new Map<string, Uint8Array>();
  const missing = new Set<string>();
  let url = "";

  const publish = async (name: string, request: IncomingMessage): Promise<[number, unknown]> => {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return [401, { error: "log in first" }];
    const { _attachments, ...sent } = await json(request) as Publication;
    const known = packuments.get(name);
    const taken = Object.keys(sent.versions).find((version) => known && version in known.versions);
    if (taken !== undefined) return [403, { error: `${name}@${taken} was published before` }];
    missing.delete(name); // npm looks first
    packuments.set(name, {
      ...sent,
      "dist-tags": { ...known?.["dist-tags"], ...sent["dist-tags"] },
      versions: { ...known?.versions, ...sent.versions },
    });
    // npm names the archive's address by the registry's, and sends it under the name at its end.
    const data = Buffer.from(Object.values(_attachments)[0].data, "base64");
    for (const { dist } of Object.values(sent.versions)) archives.set(new URL(dist.tarball).pathname, data);
    return [201, { ok: true }];
  };

  const find = (name: string): Packument | undefined => {
    if (packuments.has(name)) return packuments.get(name);
    const installed = packInstalled(name, url);
    if (installed === undefined) {
      missing.add(name);
      return undefined;
    }
    archives.set(installed.path, installed.archive);
    packuments.set(name, installed.packument);
    return installed.packument;
  };

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, url);
    const archive = archives.get(pathname);
    if (archive) return void response.writeHead(200, { "content-type": "application/octet-stream" }).end(archive);
    const name = decodeURIComponent(pathname.slice(1));
    if (request.method === "PUT") return send(response, ...await publish(name, request));
    const packument = request.method === "GET" && !name.startsWith("-/") ? find(name) : undefined;
    send(response, packument ? 200 : 404, packument ?? { error: `there is no ${name}` });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    npmrc: `${url.slice("http:".length)}:_authToken=${TOKEN}\n`,
    missing,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Returns a package of `node_modules` as if it had been published here in its one version. */
function packInstalled(
  name: string,
  url: string,
): { packument: Packument; path: string; archive: Uint8Array } | undefined {
  const folder = join(root, "node_modules", name);
  if (!existsSync(join(folder, "package.json"))) return undefined;
  const paths = globSync("**", { cwd: folder, exclude: ["node_modules"] })
    .filter((path) => statSync(join(folder, path)).isFile());
  const archive = packTarball(new Map(paths.map((path) => [`package/${path}`, readFileSync(join(folder, path))])));
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const path = `/${name}/-/${name.split("/").pop()}-${manifest.version}.tgz`;
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  const version = { ...manifest, dist: { tarball: new URL(path, url).href, integrity } };
  const packument = { name, "dist-tags": { latest: manifest.version }, versions: { [manifest.version]: version } };
  return { packument, path, archive };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
