import { Buffer } from "node:buffer";
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext, type PeerCertificate, type SecureContext, type SecureContextOptions } from "node:tls";
import {
  bool,
  func,
  isUint8Array,
  type Member,
  member,
  oneOf,
  schema,
  type SchemaOf,
  secret,
  text,
} from "../streams/internal.ts";

/**
 * The options of TLS, with their names in `node:tls`. Its other options are refused, since not all runtimes apply them: Deno ignores `ciphers`, and Bun does so for TLS
 * 1.3.
 * @example A private authority
 * ```ts
 * import { HttpClient, type HttpTlsOptions } from "@millrace/streams/http";
 * import { existsSync, readFileSync } from "node:fs";
 *
 * const tls: HttpTlsOptions = existsSync("ca.pem") ? { ca: readFileSync("ca.pem") } : {};
 * const client = new HttpClient({ tls });
 * await client.close();
 * ```
 */
export interface HttpTlsOptions {
  /**
   * Certificates of authorities in PEM format, the only ones to trust. Deno parses them for each connection: a file of all public authorities takes 20 ms, a private
   * one's certificate no time.
   * @default those that the runtime trusts
   */
  ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
  /**
   * The client's certificate in PEM format, followed by intermediate certificates. Requires `key`.
   * @default none
   */
  cert?: string | Uint8Array | undefined;
  /** The private key of `cert` in PEM format. */
  key?: string | Uint8Array | undefined;
  /** The passphrase of `key` or `pfx`. */
  passphrase?: string;
  /** The client's certificate and key in PKCS #12 format, instead of `cert` and `key`. */
  pfx?: Uint8Array;
  /**
   * The name that is sent to every server (SNI), and that its certificate must match.
   * @default the URL's host; if that is an address, no name is sent
   */
  servername?: string;
  /**
   * Whether servers without a valid certificate are refused. If false, any attacker on the path can read the traffic.
   * @default true; `NODE_TLS_REJECT_UNAUTHORIZED` has no effect
   */
  rejectUnauthorized?: boolean;
  /**
   * A replacement for the check that a certificate matches the host, such as to pin certificates. Called for each new session after the chain was verified. It refuses by
   * returning or throwing an error.
   * @default checkServerIdentity of node:tls
   */
  checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
  /**
   * The minimum version of TLS.
   * @default the runtime's, "TLSv1.2"
   */
  minVersion?: "TLSv1.2" | "TLSv1.3";
  /**
   * The maximum version of TLS.
   * @default the runtime's, "TLSv1.3"
   */
  maxVersion?: "TLSv1.2" | "TLSv1.3";
}

/** PEM text, or its bytes. */
type TlsData = string | Uint8Array;
type TlsVersion = "TLSv1.2" | "TLSv1.3";

/** The maximum number of servers whose sessions are kept for one client: it bounds the memory for many origins. */
const MAX_SESSIONS = 256;

/** A TLS session, kept so that the next connection to the server is cheaper. */
interface KeptSession {
  readonly session: Uint8Array;
  /** The server's certificate, which Node no longer knows once a session is resumed. */
  readonly certificate: PeerCertificate | undefined;
}

/** The TLS context and sessions of a client, shared by its connections: parsing `ca` for each takes longer than a handshake. */
export class TlsContext {
  static readonly #contexts = new WeakMap<HttpTlsOptions, TlsContext>();

  readonly secureContext: SecureContext;
  readonly #sessions = new Map<string, KeptSession>();

  static of(options: HttpTlsOptions): TlsContext {
    let context = TlsContext.#contexts.get(options);
    if (context === undefined) {
      context = new TlsContext(options);
      TlsContext.#contexts.set(options, context);
    }
    return context;
  }

  private constructor(options: HttpTlsOptions) {
    const { ca, cert, key, passphrase, pfx, minVersion, maxVersion } = options;
    const given = Object.entries({ ca, cert, key, passphrase, pfx, minVersion, maxVersion })
      .filter(([, value]) => value !== undefined);
    this.secureContext = createSecureContext(Object.fromEntries(given) as SecureContextOptions);
  }

  kept(server: string): KeptSession | undefined {
    return this.#sessions.get(server);
  }

  keep(server: string, session: KeptSession): void {
    this.#sessions.delete(server); // the Map is in the order of use
    this.#sessions.set(server, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(oldest!);
  }

  forget(server: string): void {
    this.#sessions.delete(server);
  }
}

const isData = (value: unknown): boolean => typeof value === "string" || isUint8Array(value);
const data = (): Member<TlsData, undefined> => member("PEM text or its bytes", isData);
const version = (): Member<TlsVersion, undefined> => oneOf<TlsVersion>(["TLSv1.2", "TLSv1.3"]);

/** The options of {@linkcode HttpClient} that begin with `tls.` or `proxyTls.`. */
export const httpTlsOptions: SchemaOf<HttpTlsOptions> = /* @__PURE__ */ schema("HttpClient", () => ({
  ca: member<TlsData | readonly TlsData[]>(
    "PEM text, its bytes, or a list of them that is not empty",
    (value) => isData(value) || (Array.isArray(value) && value.length > 0 && value.every(isData)),
  ),
  cert: data(),
  key: secret(data()),
  passphrase: secret(text()),
  pfx: secret(member<Uint8Array>("bytes in PKCS #12 format", isUint8Array)),
  servername: text(undefined, "a name", (name) => name !== ""),
  rejectUnauthorized: bool(),
  checkServerIdentity: func<NonNullable<HttpTlsOptions["checkServerIdentity"]>>(),
  minVersion: version(),
  maxVersion: version(),
}));

/** Returns the schema member of TLS options; no two clients get the same object. */
export function tlsOption(): Member<HttpTlsOptions, undefined> {
  return { fallback: undefined, expected: "an object", check: (value, name) => checkTlsOptions(value as object, name) };
}

/** Checks TLS options once for a client, even those that some runtimes would ignore. @throws {TypeError} that names the option. */
export function checkTlsOptions(options: HttpTlsOptions, what = "tls"): HttpTlsOptions {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(httpTlsOptions(options, `${what}.`))) {
    if (value === undefined) continue;
    given[name] = name === "pfx" ? value : Array.isArray(value) ? value.map(textOf) : textOf(value);
  }
  const tls = given as HttpTlsOptions;
  checkTogether(tls, what);
  for (const ca of [tls.ca ?? []].flat()) readCertificate(`${what}.ca`, ca);
  if (tls.cert !== undefined && tls.key !== undefined) checkPair(tls.cert, tls.key, tls.passphrase, what);
  if (tls.ca ?? tls.cert ?? tls.pfx) makeContext(tls, what);
  return tls;
}

/** Converts bytes to text, which all runtimes accept; returns other values unchanged. */
function textOf(value: unknown): unknown {
  return isUint8Array(value) ? new TextDecoder().decode(value) : value;
}

function checkTogether(tls: HttpTlsOptions, what: string): void {
  const { cert, key, passphrase, pfx, minVersion, maxVersion } = tls;
  if ((cert === undefined) !== (key === undefined)) {
    throw new TypeError(`${what}.cert and ${what}.key need each other: give both`);
  }
  if (cert !== undefined && pfx !== undefined) {
    throw new TypeError(`${what}.pfx takes the place of ${what}.cert: give one of them`);
  }
  if (passphrase !== undefined && cert === undefined && pfx === undefined) {
    throw new TypeError(`${what}.passphrase unlocks ${what}.key or ${what}.pfx, and there is neither`);
  }
  if (minVersion === "TLSv1.3" && maxVersion === "TLSv1.2") {
    throw new TypeError(`${what}.minVersion TLSv1.3 is above ${what}.maxVersion TLSv1.2: no version is left`);
  }
}

/** Reads the first certificate of a text. Node and Deno ignore a `ca` without one. */
function readCertificate(name: string, text: TlsData): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw new TypeError(`${name} is not a certificate in PEM format`, { cause });
  }
}

/** Checks that a key matches a certificate. Deno ignores keys that it cannot unlock, and reports a wrong key unclearly. */
function checkPair(cert: TlsData, key: TlsData, passphrase: string | undefined, what: string): void {
  const certificate = readCertificate(`${what}.cert`, cert);
  let privateKey: KeyObject;
  try {
    // Without a passphrase OpenSSL would prompt for one. With one, Deno 2.4 treats every key as encrypted.
    const isEncrypted = Buffer.from(key as string).includes("ENCRYPTED");
    const secret = isEncrypted ? passphrase ?? "" : undefined;
    privateKey = createPrivateKey({ key: key as string, format: "pem", passphrase: secret });
  } catch (cause) {
    const hint = passphrase === undefined ? `or needs ${what}.passphrase` : `or ${what}.passphrase does not unlock it`;
    throw new TypeError(`${what}.key is not a private key in PEM format, ${hint}`, { cause });
  }
  if (!certificate.checkPrivateKey(privateKey)) throw new TypeError(`${what}.key does not belong to ${what}.cert`);
}

function makeContext(tls: HttpTlsOptions, what: string): void {
  try {
    TlsContext.of(tls);
  } catch (cause) {
    const reason = tls.pfx
      ? `${what}.pfx cannot be read, or ${what}.passphrase does not unlock it`
      : "The TLS options cannot be used";
    throw new TypeError(`${reason}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
