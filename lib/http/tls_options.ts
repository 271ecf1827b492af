import type { PeerCertificate } from "node:tls";

/**
 * How TLS is spoken, with the names that `node:tls` has for it.
 *
 * @example A private authority, and a client certificate
 * ```ts
 * import { HttpClient } from "@millrace/streams/http";
 * import { existsSync, readFileSync } from "node:fs";
 *
 * if (existsSync("ca.pem")) {
 *   const client = new HttpClient({
 *     tls: { ca: readFileSync("ca.pem"), cert: readFileSync("me.pem"), key: readFileSync("me.key"), passphrase: "…" },
 *   });
 *   await client.close();
 * }
 * ```
 */
export interface HttpTlsOptions {
  /** Certificates of authorities to trust, in PEM format, instead of those that the runtime trusts. */
  ca?: TlsData | readonly TlsData[];
  /** The client's certificate in PEM format, followed by those between it and its authority. Needs `key`. */
  cert?: TlsData;
  /** The private key of `cert` in PEM format. */
  key?: TlsData;
  /** What unlocks `key` or `pfx`. */
  passphrase?: string;
  /** The client's certificate and key in PKCS #12 format, instead of `cert` and `key`. */
  pfx?: Uint8Array;
  /** The name that is asked for (SNI) and that the certificate has to be for. Default: the URL's host; no SNI if that is an address. */
  servername?: string;
  /** Whether servers without a good certificate are refused. Default: true. False is for tests: anybody may answer. */
  rejectUnauthorized?: boolean;
  /** Takes the place of the check that a certificate is for the host: returns an error to refuse it. Called after the chain was verified. */
  checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
  /** The oldest version of TLS. Default: TLSv1.2. */
  minVersion?: TlsVersion;
  /** The newest version of TLS. Default: TLSv1.3. */
  maxVersion?: TlsVersion;
  /** Cipher suites in OpenSSL's notation. Default: the runtime's. */
  ciphers?: string;
}

/** PEM text, or its bytes. */
export type TlsData = string | Uint8Array;

/** A version of TLS, as `node:tls` calls it. */
export type TlsVersion = "TLSv1.2" | "TLSv1.3";
