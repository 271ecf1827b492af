import { readFileSync } from "node:fs";

/** A certificate with its private key, in PEM format. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

function read(name: string): string {
  return readFileSync(new URL(`./certificates/${name}`, import.meta.url), "utf8");
}

function pair(name: string): Certificate {
  return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
}

const localhost = pair("localhost");

/** Certificates for tests. */
export interface Certificates {
  /**
   * The authority's certificate, which clients must trust. It signed all but `selfSigned`, `stranger` and, directly,
   * `incomplete`.
   */
  readonly ca: string;
  /** The certificate of localhost, 127.0.0.1 and ::1. */
  readonly cert: string;
  /** The key of `cert`. */
  readonly key: string;
  /** A certificate for one.test, two.test and *.many.test, but not for localhost. */
  readonly twoNames: Certificate;
  /** A certificate for localhost, 127.0.0.1 and ::1, until 2021. */
  readonly expired: Certificate;
  /** A certificate for localhost, 127.0.0.1 and ::1, from 2120. */
  readonly notYetValid: Certificate;
  /** A certificate for localhost, 127.0.0.1 and ::1; its own authority. */
  readonly selfSigned: Certificate;
  /** A certificate for localhost, 127.0.0.1 and ::1; good only together with `intermediate`. */
  readonly incomplete: Certificate;
  /** Signed by `ca`, signed `incomplete`. */
  readonly intermediate: string;
  /** A client certificate, signed by `ca`. */
  readonly client: Certificate;
  /** The key of `client`, locked with the passphrase `open`. */
  readonly lockedClientKey: string;
  /** Certificate and key of `client` in PKCS #12 format, locked with the passphrase `open`. */
  readonly clientPfx: Uint8Array;
  /** A client certificate of an unknown authority. */
  readonly stranger: Certificate;
}

/** Certificates for tests, good until 2125 unless their names say otherwise. `certificates/make.sh` made them. */
export const certificates: Certificates = {
  ca: read("ca.pem"),
  cert: localhost.cert,
  key: localhost.key,
  twoNames: pair("two_names"),
  expired: pair("expired"),
  notYetValid: pair("not_yet_valid"),
  selfSigned: pair("self_signed"),
  incomplete: pair("incomplete"),
  intermediate: read("intermediate.pem"),
  client: pair("client"),
  lockedClientKey: read("client_locked.key"),
  clientPfx: readFileSync(new URL("./certificates/client.p12", import.meta.url)),
  stranger: pair("stranger"),
};
