import type { PeerCertificate } from "node:tls";

/**
 * How TLS is spoken, with the names that `node:tls` has for it. Other options of `node:tls` are refused, as not all runtimes
 * heed them: Deno ignores `ciphers` altogether, Bun does for TLS 1.3.
 *
 * @example A private authority, and a client certificate
 * ```ts
 * import { HttpClient, type HttpTlsOptions } from "@millrace/streams/http";
 * import { existsSync, readFileSync } from "node:fs";
 *
 * const tls: HttpTlsOptions = {};
 * if (existsSync("ca.pem")) tls.ca = readFileSync("ca.pem");
 * if (existsSync("me.pem")) Object.assign(tls, { cert: readFileSync("me.pem"), key: readFileSync("me.key") });
 * const client = new HttpClient({ tls });
 * await client.close();
 * ```
 */
export interface HttpTlsOptions {
  /**
   * Certificates of authorities to trust, in PEM format, and no others. Deno reads them again for each connection: a file of all the
   * world's takes it 20 ms, one's own none.
   *
   * @default those that the runtime trusts
   */
  ca?: TlsData | readonly TlsData[];
  /** The client's certificate in PEM format, followed by those between it and its authority. Needs `key`. Default: none. */
  cert?: TlsData;
  /** The private key of `cert` in PEM format. */
  key?: TlsData;
  /** The passphrase of `key` or `pfx`. */
  passphrase?: string;
  /** The client's certificate and key in PKCS #12 format, instead of `cert` and `key`. */
  pfx?: Uint8Array;
  /**
   * The name that every server is asked for (SNI), and that its certificate has to be for.
   *
   * @default the URL's host; if that is an address, no name is asked for
   */
  servername?: string;
  /**
   * Whether servers without a good certificate are refused. Without that anybody on the way can answer and read along.
   *
   * @default true, whatever the environment says (`NODE_TLS_REJECT_UNAUTHORIZED`)
   */
  rejectUnauthorized?: boolean;
  /**
   * Takes the place of the check that a certificate is for the host, as to pin certificates. It is asked after the chain was verified, with
   * each new session, and refuses by returning an error, or by throwing one.
   *
   * @default checkServerIdentity of node:tls
   */
  checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
  /**
   * The oldest version of TLS to speak.
   *
   * @default "TLSv1.2"
   */
  minVersion?: TlsVersion;
  /**
   * The newest version of TLS to speak.
   *
   * @default "TLSv1.3"
   */
  maxVersion?: TlsVersion;
}

/**
 * PEM text, or its bytes.
 *
 * @example From a file or from the environment
 * ```ts
 * import { HttpClient, type TlsData } from "@millrace/streams/http";
 * import process from "node:process";
 * import { rootCertificates } from "node:tls";
 *
 * const own = process.env.COMPANY_CA;
 * const ca: TlsData[] = own === undefined ? [...rootCertificates] : [...rootCertificates, own];
 * const client = new HttpClient({ tls: { ca } });
 * await client.close();
 * ```
 */
export type TlsData = string | Uint8Array;

/**
 * A version of TLS, as `node:tls` calls it.
 *
 * @example Nothing older than TLS 1.3
 * ```ts
 * import { HttpClient, type TlsVersion } from "@millrace/streams/http";
 *
 * const minVersion: TlsVersion = "TLSv1.3";
 * const client = new HttpClient({ tls: { minVersion } });
 * await client.close();
 * ```
 */
export type TlsVersion = "TLSv1.2" | "TLSv1.3";
