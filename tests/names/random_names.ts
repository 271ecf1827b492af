/** A source of numbers in [0, 1), the same for the same seed. */
export type Random = () => number;

/** xorshift32, which is enough for names. */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

/** Returns a random member of `items`. */
export function oneOf<Item>(random: Random, items: ArrayLike<Item>): Item {
  return items[Math.floor(random() * items.length)];
}

/** Makes a text of a number of characters of `alphabet`. */
export function text(random: Random, alphabet: string, length: number): string {
  let made = "";
  for (let i = 0; i < length; i++) made += oneOf(random, alphabet);
  return made;
}

const WORDS = ("account admin analytics auth avatar badge banner blog board button calendar card cart chart chat " +
  "checkout code color comment company contact cookie country dashboard data date dialog docs download edit editor " +
  "email error event export faq feature feed field file filter footer form gallery graph grid group guide header help " +
  "hero home hook icon image import inbox input invoice item job landing language layout legal license link list login " +
  "logo map media member menu message modal nav news note order page panel password payment photo player popup post " +
  "price privacy product profile project question rating receipt region report result review role route search " +
  "section select service session shared shop sidebar signup site slider social stats status step store story support " +
  "survey table tag task team terms theme time toast toggle token tool topic total tree type upload user video view " +
  "wallet widget wizard workspace").split(" ");

/** Returns a name as people give it to a source: `AccountMenu`, `account-menu`, `account.menu`, `account`. */
export function stem(random: Random): string {
  const word = (): string => oneOf(random, WORDS);
  const capital = (): string => word().replace(/^./, (letter) => letter.toUpperCase());
  const way = random();
  if (way < 0.3) return capital() + (random() < 0.6 ? capital() : "");
  if (way < 0.55) return word();
  if (way < 0.8) return `${word()}-${word()}`;
  return way < 0.9 ? `${word()}.${word()}` : word() + capital();
}
