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

/** Certificates for tests, good until 2125 unless their names say otherwise. `certificates/make.sh` made them. */
export const certificates = {
  /** The authority's certificate: what a client has to trust. It signed all but `selfSigned`, `stranger` and, directly, `incomplete`. */
  ca: read("ca.pem"),
  /** For localhost, 127.0.0.1 and ::1. */
  cert: localhost.cert,
  /** The key of `cert`. */
  key: localhost.key,
  /** For one.test, two.test and *.many.test: none for localhost. */
  twoNames: pair("two_names"),
  /** For localhost, 127.0.0.1 and ::1, until 2021. */
  expired: pair("expired"),
  /** For localhost, 127.0.0.1 and ::1, from 2120. */
  notYetValid: pair("not_yet_valid"),
  /** For localhost, 127.0.0.1 and ::1; its own authority. */
  selfSigned: pair("self_signed"),
  /** For localhost, 127.0.0.1 and ::1; good only together with `intermediate`. */
  incomplete: pair("incomplete"),
  /** Signed by `ca`, signed `incomplete`. */
  intermediate: read("intermediate.pem"),
  /** Of a client, signed by `ca`. */
  client: pair("client"),
  /** The key of `client`, locked with the passphrase `open`. */
  lockedClientKey: read("client_locked.key"),
  /** Certificate and key of `client` in PKCS #12 format, locked with the passphrase `open`. */
  clientPfx: readFileSync(new URL("./certificates/client.p12", import.meta.url)),
  /** Of a client that nobody knows. */
  stranger: pair("stranger"),
} as const;
