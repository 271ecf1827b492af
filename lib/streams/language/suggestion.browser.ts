/** Returns the way out of an unknown name: all known ones. To find the one that was meant would take a page 160 bytes more. */
export function wayOutOf(_name: string, known: readonly string[]): string {
  return `use ${known.join(", ")}`;
}
