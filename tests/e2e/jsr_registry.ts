import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { unpackTarball } from "./tarball.ts";

/** A registry that takes packages from `deno publish` and serves them as JSR does. */
export interface JsrRegistry extends AsyncDisposable {
  /** The value of the environment variable `JSR_URL`. */
  readonly url: string;
  /** The token for `deno publish --token`. */
  readonly token: string;
  /** Returns the files of a published version by path, as `/mod.ts`. */
  files(name: string, version: string): ReadonlyMap<string, Uint8Array>;
}

interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly type: string;
}

const TOKEN = "a-token-of-this-test";
const types: Readonly<Record<string, string>> = {
  ".ts": "application/typescript",
  ".js": "text/javascript",
  ".json": "application/json",
};

/**
 * Starts a registry on a free port: the part of JSR's interface that publishing and importing need.
 *
 * @see {@link https://jsr.io/docs/api}
 */
export async function startJsrRegistry(): Promise<JsrRegistry> {
  /** The files of each version of each package, as `@scope/name`. */
  const packages = new Map<string, Map<string, Map<string, Uint8Array>>>();

  const manage = async (path: string, request: IncomingMessage): Promise<Answer> => {
    const [, scope, short, version] = /^scopes\/([^/]+)\/packages\/([^/]+)(?:\/versions\/([^/]+))?$/.exec(path) ?? [];
    const name = `@${scope}/${short}`;
    if (request.method === "POST") {
      if (request.headers.authorization !== `Bearer ${TOKEN}`) return refusal(401, "unauthorized");
      const files = unpackTarball(await buffer(request));
      const rooted = new Map([...files].map(([file, bytes]) => [`/${file}`, bytes]));
      packages.set(name, (packages.get(name) ?? new Map()).set(version, rooted));
      return document({ id: "1", status: "success" });
    }
    // A name is made before the first version is published under it: here all names are.
    if (version === undefined || packages.get(name)?.has(version)) return document({ scope, name: short });
    return refusal(404, "packageVersionNotFound");
  };

  const serve = (path: string): Answer => {
    const [, name, rest = ""] = /^\/(@[^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
    const versions = packages.get(name);
    if (versions === undefined) return refusal(404, "packageNotFound");
    if (rest === "meta.json") return document(packageDocument(name, [...versions.keys()]));
    const described = versions.get(rest.replace(/_meta\.json$/, ""));
    if (described) return document(versionDocument(described));
    const [version] = rest.split("/", 1);
    const body = versions.get(version)?.get(rest.slice(version.length));
    if (body === undefined) return refusal(404, "notFound");
    return { status: 200, body, type: types[/\.\w+$/.exec(rest)?.[0] ?? ""] ?? "text/plain" };
  };

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, "http://localhost");
    const answer = pathname.startsWith("/api/") ? await manage(pathname.slice(5), request) : serve(pathname);
    send(response, answer);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    token: TOKEN,
    files: (name, version) => packages.get(name)?.get(version) ?? new Map(),
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function packageDocument(name: string, versions: readonly string[]): unknown {
  const [scope, short] = name.slice(1).split("/");
  return {
    scope,
    name: short,
    latest: versions.at(-1),
    versions: Object.fromEntries(versions.map((version) => [version, {}])),
  };
}

function versionDocument(files: ReadonlyMap<string, Uint8Array>): unknown {
  const { exports } = JSON.parse(new TextDecoder().decode(files.get("/deno.json")));
  const described = [...files].map(([path, bytes]) => {
    return [path, { size: bytes.length, checksum: `sha256-${createHash("sha256").update(bytes).digest("hex")}` }];
  });
  return { manifest: Object.fromEntries(described), exports };
}

function document(body: unknown): Answer {
  return { status: 200, body: JSON.stringify(body), type: "application/json" };
}

function refusal(status: number, code: string): Answer {
  return { status, body: JSON.stringify({ code, message: code }), type: "application/json" };
}

function send(response: ServerResponse, { status, body, type }: Answer): void {
  response.writeHead(status, { "content-type": type }).end(body);
}
