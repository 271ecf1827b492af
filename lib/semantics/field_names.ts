/** The names in a list such as that of `Vary`, each once, or `*` if that is among them. */
export function joinedNames(list: string): string {
  const names = list.split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (names.includes("*")) return "*";
  const seen = new Set<string>();
  return names.filter((name) => !seen.has(name.toLowerCase()) && seen.add(name.toLowerCase())).join(", ");
}
