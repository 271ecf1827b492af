import { join } from "node:path";
import { environmentVariable } from "../runtime/mod.ts";
import { isSettable, requireFieldValue } from "../semantics/mod.ts";
import { settingsOf } from "../static/internal.ts";
import type { StaticHandlerOptions } from "../static/mod.ts";
import { byteCount, oneFolder, type Parsed, readWords, requireThere, UsageError } from "./usage.ts";

/** A field's name (RFC 9110, section 5.1). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * The fields that the values of `--header` name, each as `Name: value`. Those of one name are joined by commas, which
 * means the same (RFC 9110, section 5.3).
 *
 * @throws {UsageError} if one is no field.
 */
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

const DEFAULT_PORT = 8080;
const PORTS_TO_TRY = 20;

/** The text that `millrace serve --help` prints. */
export const serveHelp =
  `Serves a folder over HTTP, from memory where files are small: precompressed variants, caching, ranges, and deltas for
returning visitors. Run millrace precompress first.

usage: millrace serve DIR [options]

  -p, --port N           default: that of the environment's PORT, else 8080 or the next free one; 0 for any free one
  --host HOST            the address to listen on (default 127.0.0.1: this machine only; 0.0.0.0 for every address)
  --base PATH            the path that DIR is served at (default /)
  --index NAME           the file that answers for its folder (default index.html)
  --clean-urls           /about answers about.html
  --fallback FILE        the page for paths without a file, with 200: for applications that route by themselves
  --not-found FILE       the page that goes with 404 (default 404.html, if there is one)
  --dotfiles             serve names that begin with a dot, too
  --immutable GLOB       the paths below DIR whose content never changes (default: names with a content hash)
  --header "NAME: VALUE" a field of every response, errors included; can be repeated
  --cors                 scripts of any origin may read the responses
  --cors-origin ORIGIN   scripts of that origin may, as in https://app.example; can be repeated
  --cache-control TEXT   for what is not immutable (default no-cache: kept, and revalidated each time)
  --no-dictionaries      no deltas for returning visitors (RFC 9842)
  --memory-limit BYTES   of files kept in memory; k, M or G may follow the number (default 64M)
  --previous DIR         the former deploy: its immutable files stay answerable
  --no-watch             do not look at DIR when something in it changes; it is scanned again by SIGHUP
  --repr-digest          send the SHA-256 of what is sent of (RFC 9530)
  --cert FILE            a certificate in PEM format, for https; with
  --key FILE             its private key
  --quiet                print warnings and errors only, no line for each request
  -h, --help; -v, --version

SIGHUP scans DIR again, as after a deploy; requests under way get what they began with.
SIGINT and SIGTERM stop it: requests under way have 10 seconds to finish, a second signal ends it at once.

exit status: 0 stopped, 1 something failed, 2 wrong usage, 130 or 143 ended by a second signal
`;

/** The parsed command line of `millrace serve`. */
export interface ServeArguments {
  readonly directory: string;
  readonly hostname: string;
  readonly port: number;
  /** How many ports are tried from that on, as long as they are in use. */
  readonly portsToTry: number;
  /** The paths of a certificate and its key. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
  readonly quiet: boolean;
  readonly options: StaticHandlerOptions;
}

const flags = {
  port: { type: "string", short: "p" },
  host: { type: "string" },
  base: { type: "string" },
  index: { type: "string" },
  "clean-urls": { type: "boolean" },
  fallback: { type: "string" },
  "not-found": { type: "string" },
  dotfiles: { type: "boolean" },
  immutable: { type: "string" },
  header: { type: "string", multiple: true },
  cors: { type: "boolean" },
  "cors-origin": { type: "string", multiple: true },
  "cache-control": { type: "string" },
  "no-dictionaries": { type: "boolean" },
  "memory-limit": { type: "string" },
  previous: { type: "string" },
  watch: { type: "boolean" }, // the default
  "no-watch": { type: "boolean" },
  "repr-digest": { type: "boolean" },
  cert: { type: "string" },
  key: { type: "string" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

type Values = Parsed<typeof flags>["values"];

/**
 * Reads the words after the program's name, of which the first is `serve`.
 *
 * @returns what they ask for, or which text to print.
 * @throws {UsageError} if they are off.
 */
export async function serveArguments(words: readonly string[]): Promise<ServeArguments | "help" | "version"> {
  const { values, positionals } = readWords(words, flags);
  if (values.help) return "help";
  if (values.version) return "version";
  const directory = oneFolder(positionals.slice(1), "serve");
  requireOneWatch(values);
  const options = optionsOf(values);
  await settingsOf(options).catch((cause: Error) => {
    throw new UsageError(cause.message, { cause });
  });
  return {
    directory,
    hostname: values.host ?? "127.0.0.1",
    ...portOf(values.port),
    certificate: certificateOf(values),
    quiet: values.quiet ?? false,
    options,
  };
}

/**
 * Requires that all is there which `parsed` names.
 *
 * @throws {UsageError} if something is not.
 */
export function requireServed({ directory, certificate, options }: ServeArguments): void {
  requireThere(directory, "folder", "cannot serve ");
  const { fallback, notFound, previous } = options;
  if (typeof fallback === "string") requireThere(join(directory, fallback), "file", "--fallback: cannot serve ");
  if (notFound !== undefined) requireThere(join(directory, notFound), "file", "--not-found: cannot serve ");
  if (typeof previous === "string") requireThere(previous, "folder", "--previous: cannot serve ");
  if (certificate === undefined) return;
  requireThere(certificate.cert, "file", "cannot read the certificate ");
  requireThere(certificate.key, "file", "cannot read the key ");
}

/** A port that somebody asked for is that or none. */
function portOf(flag: string | undefined): Pick<ServeArguments, "port" | "portsToTry"> {
  const variable = environmentVariable("PORT") || undefined; // empty: not set
  if (flag === undefined && variable === undefined) return { port: DEFAULT_PORT, portsToTry: PORTS_TO_TRY };
  const port = Number(flag ?? variable);
  if (/^\d+$/.test(flag ?? variable!) && port <= 65535) return { port, portsToTry: 1 };
  const asked = flag === undefined ? `PORT ${JSON.stringify(variable)} of the environment` : `--port ${flag}`;
  throw new UsageError(`${asked} is not a port: use a number from 0 to 65535`);
}

function requireOneWatch({ watch, "no-watch": noWatch }: Values): void {
  if (watch && noWatch) throw new UsageError("--watch and --no-watch exclude each other");
}

function corsOf({ cors, "cors-origin": origins }: Values): StaticHandlerOptions["cors"] {
  if (cors && origins) throw new UsageError("--cors and --cors-origin exclude each other");
  return origins ?? cors;
}

function certificateOf({ cert, key }: Values): ServeArguments["certificate"] {
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert === undefined && key === undefined) return undefined;
  throw new UsageError(`--${cert === undefined ? "key" : "cert"} is given alone: https needs --cert and --key`);
}

function optionsOf(values: Values): StaticHandlerOptions {
  const { base, index, fallback, immutable, previous } = values;
  const cors = corsOf(values);
  const record = values.header && Object.fromEntries(headerFields(values.header));
  const [notFound, cacheControl, memoryLimit] = [values["not-found"], values["cache-control"], values["memory-limit"]];
  return {
    ...(base !== undefined && { basePath: base }),
    ...(index !== undefined && { index }),
    cleanUrls: values["clean-urls"] ?? false,
    ...(fallback !== undefined && { fallback }),
    ...(notFound !== undefined && { notFound }),
    dotfiles: values.dotfiles ?? false,
    ...(immutable !== undefined && { immutable }),
    ...(cacheControl !== undefined && { cacheControl }),
    ...(cors !== undefined && { cors }),
    ...(record && { headers: () => record }),
    dictionaries: !values["no-dictionaries"],
    ...(memoryLimit !== undefined && { memoryLimit: byteCount("memory-limit", memoryLimit) }),
    ...(previous !== undefined && { previous }),
    watch: !values["no-watch"],
    reprDigest: values["repr-digest"] ?? false,
  };
}
