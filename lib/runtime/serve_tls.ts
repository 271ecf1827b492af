import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

/**
 * Checks a certificate and its key in PEM format.
 *
 * @throws {TypeError} that says which of them is wrong: the runtimes' own errors for this differ, and name neither.
 */
export function checkCertificate({ cert, key }: { readonly cert: string; readonly key: string }): void {
  let certificate: X509Certificate;
  let privateKey: KeyObject;
  try {
    certificate = new X509Certificate(cert);
  } catch (cause) {
    throw new TypeError("cannot use the certificate: it is not one in PEM format", { cause });
  }
  try {
    privateKey = createPrivateKey(key);
  } catch (cause) {
    throw new TypeError("cannot use the key: it is not a private key in PEM format without a passphrase", { cause });
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TypeError("cannot use the key: it does not belong to the certificate");
  }
}
