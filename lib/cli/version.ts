/** The package's version; a test compares it with the manifests. */
export const version = "0.2.0";

export function asksForVersion([first, ...more]: readonly string[]): boolean {
  return first === "version" || (more.length === 0 && (first === "--version" || first === "-v"));
}
