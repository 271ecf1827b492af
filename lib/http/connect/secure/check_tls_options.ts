import { Buffer } from "node:buffer";
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { HttpTlsOptions, TlsData } from "../../tls_options.ts";
import { TlsContext } from "./tls_context.ts";

/** Whether a value is what an option takes, and in words what that is. */
interface Kind {
  readonly is: (value: unknown) => boolean;
  readonly words: string;
}

const isData = (value: unknown): boolean => typeof value === "string" || value instanceof Uint8Array;
const data: Kind = { is: isData, words: "PEM text or its bytes" };
const version: Kind = { is: (value) => value === "TLSv1.2" || value === "TLSv1.3", words: '"TLSv1.2" or "TLSv1.3"' };

const kinds: Readonly<Record<keyof HttpTlsOptions, Kind>> = {
  ca: {
    is: (value) => isData(value) || (Array.isArray(value) && value.length > 0 && value.every(isData)),
    words: "PEM text, its bytes, or an array of them that is not empty",
  },
  cert: data,
  key: data,
  passphrase: { is: (value) => typeof value === "string", words: "a string" },
  pfx: { is: (value) => value instanceof Uint8Array, words: "bytes in PKCS #12 format" },
  servername: { is: (value) => typeof value === "string" && value !== "", words: "a name" },
  rejectUnauthorized: { is: (value) => typeof value === "boolean", words: "a boolean" },
  checkServerIdentity: { is: (value) => typeof value === "function", words: "a function" },
  minVersion: version,
  maxVersion: version,
};

/**
 * Checks TLS options, once for a client: also what some runtimes would ignore, and then connect with less than was asked for.
 *
 * @param what The name of the option that they are.
 * @returns a copy, with what is PEM as text.
 * @throws {TypeError} that names the option and says what it must be.
 */
export function checkTlsOptions(options: HttpTlsOptions, what: "tls" | "proxyTls" = "tls"): HttpTlsOptions {
  try {
    return checked(options);
  } catch (error) {
    if (what === "tls" || !(error instanceof TypeError)) throw error;
    throw new TypeError(error.message.replaceAll("tls.", `${what}.`), { cause: error.cause });
  }
}

function checked(options: HttpTlsOptions): HttpTlsOptions {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    checkKind(name, value);
    given[name] = name === "pfx" ? value : Array.isArray(value) ? value.map(textOf) : textOf(value);
  }
  const tls = given as HttpTlsOptions;
  checkTogether(tls);
  for (const ca of [tls.ca ?? []].flat()) readCertificate("tls.ca", ca);
  if (tls.cert !== undefined && tls.key !== undefined) checkPair(tls.cert, tls.key, tls.passphrase);
  if (tls.ca ?? tls.cert ?? tls.pfx) makeContext(tls);
  return tls;
}

function checkKind(name: string, value: unknown): void {
  const kind = Object.hasOwn(kinds, name) ? kinds[name as keyof HttpTlsOptions] : undefined;
  if (kind === undefined) {
    throw new TypeError(`tls.${name} is not an option here: use ${Object.keys(kinds).join(", ")}`);
  }
  if (kind.is(value)) return;
  const given = typeof value === "object" ? Object.prototype.toString.call(value) : String(value);
  throw new TypeError(`tls.${name} must be ${kind.words}, not ${given}`);
}

/** Bytes as text, so that all runtimes take them; anything else as it is. */
function textOf(value: unknown): unknown {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}

function checkTogether({ cert, key, passphrase, pfx, minVersion, maxVersion }: HttpTlsOptions): void {
  if ((cert === undefined) !== (key === undefined)) {
    throw new TypeError("tls.cert and tls.key need each other: give both");
  }
  if (cert !== undefined && pfx !== undefined) {
    throw new TypeError("tls.pfx takes the place of tls.cert: give one of them");
  }
  if (passphrase !== undefined && cert === undefined && pfx === undefined) {
    throw new TypeError("tls.passphrase unlocks tls.key or tls.pfx, and there is neither");
  }
  if (minVersion === "TLSv1.3" && maxVersion === "TLSv1.2") {
    throw new TypeError("tls.minVersion TLSv1.3 is above tls.maxVersion TLSv1.2: no version is left");
  }
}

/** Reads the first certificate of a text. Node and Deno ignore a `ca` that is none. */
function readCertificate(name: string, text: TlsData): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw new TypeError(`${name} is not a certificate in PEM format`, { cause });
  }
}

/** Deno ignores keys that it cannot unlock, and says nothing that helps of a key that is for another certificate. */
function checkPair(cert: TlsData, key: TlsData, passphrase: string | undefined): void {
  const certificate = readCertificate("tls.cert", cert);
  let privateKey: KeyObject;
  try {
    // Without a passphrase OpenSSL would ask for one on the terminal; with one Deno 2.4 takes every key for encrypted.
    const isEncrypted = Buffer.from(key as string).includes("ENCRYPTED");
    privateKey = createPrivateKey({
      key: key as string,
      format: "pem",
      passphrase: isEncrypted ? passphrase ?? "" : undefined,
    });
  } catch (cause) {
    const hint = passphrase === undefined ? "or needs tls.passphrase" : "or tls.passphrase does not unlock it";
    throw new TypeError(`tls.key is not a private key in PEM format, ${hint}`, { cause });
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TypeError("tls.key does not belong to tls.cert");
  }
}

function makeContext(tls: HttpTlsOptions): void {
  try {
    TlsContext.of(tls);
  } catch (cause) {
    const what = tls.pfx
      ? "tls.pfx cannot be read, or tls.passphrase does not unlock it"
      : "The TLS options cannot be used";
    throw new TypeError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
