import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { lastingPath, listedName } from "../files/internal.ts";
import { environmentVariable } from "../runtime/mod.ts";
import { isSettable, requireFieldValue } from "../semantics/mod.ts";
import { settingsOf, staticHandlerOptions } from "../static/internal.ts";
import type { StaticHandlerOptions } from "../static/mod.ts";
import { Flags, optionsByPath } from "./flags.ts";
import { oneFolder, requireThere, UsageError } from "./usage.ts";

/** The name of a header field (RFC 9110, section 5.1). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Parses header fields. Fields of the same name are joined by commas, which is equivalent (RFC 9110, section 5.3). */
export function headerFields(texts: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const text of texts) {
    const [name, value] = fieldOf(text);
    const former = fields.get(name);
    if (former !== undefined && name === "set-cookie") throw new UsageError("--header Set-Cookie can be given once");
    fields.set(name, former === undefined ? value : `${former}, ${value}`);
  }
  return fields;
}

function fieldOf(text: string): [name: string, value: string] {
  const colon = text.indexOf(":");
  if (colon === -1) throw new UsageError(`--header ${JSON.stringify(text)} has no colon: use "Name: value"`);
  const name = text.slice(0, colon).trim();
  const value = text.slice(colon + 1).trim();
  if (!NAME.test(name)) {
    throw new UsageError(`--header ${JSON.stringify(text)}: ${JSON.stringify(name)} is no name of a header field`);
  }
  if (!isSettable(name)) throw new UsageError(`--header ${name}: only the server can know it`);
  try {
    requireFieldValue(`--header ${name}`, value);
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
  return [name.toLowerCase(), value];
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 8080;
const PORTS_TO_TRY = 20;

export const serveFlags: Flags = new Flags(() => optionsByPath(staticHandlerOptions), [
  {
    name: "port",
    short: "p",
    value: "N",
    help: `default: that of the environment's PORT, else ${DEFAULT_PORT} or the next free one; 0 for any free one`,
  },
  {
    name: "host",
    value: "HOST",
    help: `the address to listen on (default ${DEFAULT_HOST}: this machine only; 0.0.0.0 for every address)`,
  },
  { option: "basePath", name: "base", value: "PATH", mayBeEmpty: true, help: "the path that DIR is served at" },
  { option: "index", value: "NAME", help: "the file that answers for its folder" },
  { option: "cleanUrls", help: "/about answers about.html" },
  {
    option: "fallback",
    value: "FILE",
    help: "the page for paths without a file, with 200: for applications that route by themselves",
  },
  { option: "notFound", value: "FILE", help: "the page that goes with 404, if there is one; the nearest folder's" },
  { option: "redirectStatus", value: "N", help: "301, 302, 307 or 308", otherwise: "301 for folders, 308 for pages" },
  { option: "dotfiles", help: "serve names that begin with a dot, too" },
  {
    option: "immutable",
    value: "GLOB",
    help: "the paths below DIR whose content never changes",
    otherwise: "by the manifest, or names with a content hash",
  },
  {
    name: "header",
    value: '"NAME: VALUE"',
    repeats: true,
    help: "a field of every response, errors included; can be repeated",
  },
  { option: "cors", help: "scripts of any origin may read the responses" },
  {
    option: "cors",
    name: "cors-origin",
    value: "ORIGIN",
    help: "scripts of that origin may, as in https://app.example; can be repeated",
  },
  {
    option: "cacheControl",
    value: "TEXT",
    mayBeEmpty: true,
    help: "for what is not immutable",
    otherwise: "no-cache, kept and revalidated each time",
  },
  { option: "dictionaries", name: "no-dictionaries", help: "no deltas for returning visitors (RFC 9842)" },
  { option: "memoryLimit", value: "BYTES", help: "of files kept in memory; k, M or G may follow the number" },
  {
    option: "hashLimit",
    value: "BYTES",
    help: "larger files are tagged by size and time, not by a hash of what they hold",
    otherwise: "none",
  },
  { option: "previous", value: "DIR", help: "the former deploy: its immutable files stay answerable" },
  { option: "watch" }, // the command watches in any case
  {
    option: "watch",
    name: "no-watch",
    help: "do not look at DIR when something in it changes; it is scanned again by SIGHUP",
  },
  { option: "reprDigest", help: "send Repr-Digest, the SHA-256 of the whole file or variant (RFC 9530)" },
  { name: "cert", value: "FILE", help: "a certificate in PEM format, for https; with" },
  { name: "key", value: "FILE", help: "its private key" },
  {
    name: "quiet",
    help: "print warnings and errors only, and the address if the port is not the one that was asked for",
  },
]);

export function serveHelp(): string {
  return `Serves a folder over HTTP, from memory where files are small: precompressed variants, caching, ranges, and deltas for
returning visitors. Run millrace precompress first.

usage: millrace serve DIR [options]

${serveFlags.help()}
SIGHUP scans DIR again, as after a deploy; requests under way get what they began with. On Node it reads --cert and --key
again, too, for new connections.
SIGINT and SIGTERM stop it: requests under way have 10 seconds to finish, a second signal ends it at once.

exit status: 0 stopped, 1 something failed, 2 wrong usage, 130 or 143 ended by a second signal
`;
}

export interface ServeArguments {
  readonly directory: string;
  readonly hostname: string;
  readonly port: number;
  /** The number of ports to try from `port` on, while they are in use. */
  readonly portsToTry: number;
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
  readonly quiet: boolean;
  readonly options: StaticHandlerOptions;
}

/** Parses the arguments of the program, the first of which is `serve`. */
export async function serveArguments(words: readonly string[]): Promise<ServeArguments | "help" | "version"> {
  const given = serveFlags.parse(words);
  if (given.has("help")) return "help";
  if (given.has("version")) return "version";
  const directory = oneFolder(given.words.slice(1), "serve");
  for (const [flag, other] of [["watch", "no-watch"], ["cors", "cors-origin"]] as const) {
    if (given.has(flag) && given.has(other)) throw new UsageError(`--${flag} and --${other} exclude each other`);
  }
  const fields = Object.fromEntries(headerFields(given.texts("header")));
  const headers = given.has("header") && { headers: () => fields };
  const options: StaticHandlerOptions = { watch: true, ...given.options(), ...headers };
  await settingsOf(options).catch((cause) => {
    throw given.explained(cause);
  });
  return {
    directory,
    hostname: given.text("host") ?? DEFAULT_HOST,
    ...portOf(given.text("port")),
    certificate: certificateOf(given.text("cert"), given.text("key")),
    quiet: given.has("quiet"),
    options,
  };
}

/** The names in a folder; none if it may not be read, as the handler will say. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function requireServed({ directory, certificate, options }: ServeArguments): void {
  requireThere(directory, "folder", "cannot serve ");
  const { index, fallback, notFound, previous } = options;
  const root = lastingPath(directory);
  const requireCase = (path: string, flag: string): void => {
    let place = root;
    for (const part of relative(root, join(root, path)).split(sep)) {
      const name = listedName(join(place, part), namesIn(place));
      if (name !== part) {
        const reason = `paths of URLs have a case; there it is ${name}`;
        throw new UsageError(`${flag}: cannot serve ${join(directory, path)}: ${reason}`);
      }
      place = join(place, part);
    }
  };
  const requireBelow = (path: string, flag: string): void => {
    requireThere(join(root, path), "file", `${flag}: cannot serve `, join(directory, path));
    requireCase(path, flag);
  };
  if (typeof index === "string") requireCase(index, "--index");
  if (typeof fallback === "string") requireBelow(fallback, "--fallback");
  if (notFound !== undefined) requireBelow(notFound, "--not-found");
  if (typeof previous === "string") requireThere(previous, "folder", "--previous: cannot serve ");
  if (certificate === undefined) return;
  requireThere(certificate.cert, "file", "cannot read the certificate ");
  requireThere(certificate.key, "file", "cannot read the key ");
}

/** Parses the port; an explicit port is not replaced by another. */
function portOf(flag: string | undefined): Pick<ServeArguments, "port" | "portsToTry"> {
  const variable = environmentVariable("PORT") || undefined; // an empty variable counts as unset
  if (flag === undefined && variable === undefined) return { port: DEFAULT_PORT, portsToTry: PORTS_TO_TRY };
  const port = Number(flag ?? variable);
  if (/^\d+$/.test(flag ?? variable!) && port <= 65535) return { port, portsToTry: 1 };
  const asked = flag === undefined ? `PORT ${JSON.stringify(variable)} of the environment` : `--port ${flag}`;
  throw new UsageError(`${asked} is not a port: use a number from 0 to 65535`);
}

function certificateOf(cert: string | undefined, key: string | undefined): ServeArguments["certificate"] {
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert === undefined && key === undefined) return undefined;
  throw new UsageError(`--${cert === undefined ? "key" : "cert"} is given alone: https needs --cert and --key`);
}
