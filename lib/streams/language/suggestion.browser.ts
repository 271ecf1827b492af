/** Returns the hint for an unknown name: all known ones. Finding the nearest name would take a page 160 bytes more. */
export function wayOutOf(_name: string, known: readonly string[]): string {
  return `use ${known.join(", ")}`;
}
