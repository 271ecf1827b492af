/**
 * Words that end a message about `word`, if it looks like one of `known` with a letter wrong: `: did you mean serve?`.
 * Empty if none is close.
 *
 * @param prefix What stands before the words on the command line, as in `--`.
 */
export function suggestionFor(word: string, known: readonly string[], prefix = ""): string {
  const distances = known.map((each) => editDistance(word, each));
  const least = Math.min(...distances);
  const closest = known[distances.indexOf(least)];
  // A wrong letter in three: of others, people would not see why.
  if (closest === undefined || least > Math.floor(Math.max(word.length, closest.length) / 3)) return "";
  return `: did you mean ${prefix}${closest}?`;
}

/** How many letters are to be put in, left out, replaced or swapped with their neighbour to make `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(replaced, last[j]! + 1, row[j - 1]! + 1, isSwapped ? beforeLast[j - 2]! + 1 : Infinity));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
