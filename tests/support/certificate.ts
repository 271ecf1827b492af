import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A self-made certificate for `localhost` and 127.0.0.1. */
export interface Certificate {
  /** The path of the certificate. */
  readonly certFile: string;
  /** The path of its key. */
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** Whether there is an openssl command to make certificates with. */
export const canMakeCertificates: boolean = spawnSync("openssl", ["version"]).status === 0;

/** Makes a certificate in `folder`. */
export function makeCertificate(folder: string): Certificate {
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", [...request, "-keyout", keyFile, "-out", certFile, "-days", "2", ...names], {
    stdio: "ignore",
  });
  return { certFile, keyFile, cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}
