import { settingsOf } from "../static/internal.ts";
import type { StaticHandlerOptions } from "../static/mod.ts";
import { byteCount, oneFolder, type Parsed, readWords, UsageError, wholeNumber } from "./usage.ts";

/** What `millrace serve --help` prints. */
export const serveHelp =
  `Serves a folder over HTTP, from memory where files are small: precompressed variants, caching, ranges, and deltas for
returning visitors. Run millrace precompress first.

usage: millrace serve DIR [options]

  --port N               default 8080; 0 for any free one
  --host HOST            the address to listen on (default 127.0.0.1: this machine only; 0.0.0.0 for every address)
  --base PATH            the path that DIR is served at (default /)
  --index NAME           the file that answers for its folder (default index.html)
  --clean-urls           /about answers about.html
  --fallback FILE        the page for paths without a file, with 200: for applications that route by themselves
  --not-found FILE       the page that goes with 404 (default 404.html, if there is one)
  --dotfiles             serve names that begin with a dot, too
  --immutable GLOB       the paths below DIR whose content never changes (default: names with a content hash)
  --cache-control TEXT   for what is not immutable (default no-cache: kept, and revalidated each time)
  --no-dictionaries      no deltas for returning visitors (RFC 9842)
  --memory-limit BYTES   of files kept in memory; k and M may follow the number (default 64M)
  --previous DIR         the former deploy: its immutable files stay answerable
  --watch                scan DIR again when something in it changes; for development
  --repr-digest          send the SHA-256 of what is sent of (RFC 9530)
  --cert FILE            a certificate in PEM format, for https; with
  --key FILE             its private key
  --quiet                print warnings and errors only
  --help, --version

SIGHUP scans DIR again, as after a deploy; requests under way get what they began with.
SIGINT and SIGTERM stop it: requests under way have 10 seconds to finish, a second signal ends it at once.

exit status: 0 stopped, 1 something failed, 2 wrong usage, 130 or 143 ended by a second signal
`;

/** What the command line asks for. */
export interface ServeArguments {
  readonly directory: string;
  readonly hostname: string;
  readonly port: number;
  /** The paths of a certificate and its key. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
  readonly quiet: boolean;
  readonly options: StaticHandlerOptions;
}

const flags = {
  port: { type: "string" },
  host: { type: "string" },
  base: { type: "string" },
  index: { type: "string" },
  "clean-urls": { type: "boolean" },
  fallback: { type: "string" },
  "not-found": { type: "string" },
  dotfiles: { type: "boolean" },
  immutable: { type: "string" },
  "cache-control": { type: "string" },
  "no-dictionaries": { type: "boolean" },
  "memory-limit": { type: "string" },
  previous: { type: "string" },
  watch: { type: "boolean" },
  "repr-digest": { type: "boolean" },
  cert: { type: "string" },
  key: { type: "string" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
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
  const options = optionsOf(values);
  await settingsOf(options).catch((cause: Error) => {
    throw new UsageError(cause.message, { cause });
  });
  return {
    directory,
    hostname: values.host ?? "127.0.0.1",
    port: portOf(values.port ?? "8080"),
    certificate: certificateOf(values),
    quiet: values.quiet ?? false,
    options,
  };
}

function portOf(text: string): number {
  const port = wholeNumber("port", text);
  if (port > 65535) throw new UsageError(`--port ${text} is not a port: use a number from 0 to 65535`);
  return port;
}

function certificateOf({ cert, key }: Values): ServeArguments["certificate"] {
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert === undefined && key === undefined) return undefined;
  throw new UsageError(`--${cert === undefined ? "key" : "cert"} is given alone: https needs --cert and --key`);
}

function optionsOf(values: Values): StaticHandlerOptions {
  const { base, index, fallback, immutable, previous } = values;
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
    dictionaries: !values["no-dictionaries"],
    ...(memoryLimit !== undefined && { memoryLimit: byteCount("memory-limit", memoryLimit) }),
    ...(previous !== undefined && { previous }),
    watch: values.watch ?? false,
    reprDigest: values["repr-digest"] ?? false,
  };
}
