/** The package's version; a test holds it against the manifests. */
export const version = "0.2.0";
