import type { Random } from "../streams/differential/random.ts";

type Mutation = (input: Uint8Array, random: Random, others: Others) => Uint8Array;

/** Byte sequences that mutations insert. */
export interface Others {
  readonly pool: readonly Uint8Array[];
  readonly tokens: readonly Uint8Array[];
}

const EDGES = [0, 1, 9, 10, 13, 32, 34, 37, 44, 45, 47, 48, 58, 61, 92, 127, 128, 191, 192, 254, 255];

/** Changes an input in one to five ways, and keeps it below `maxSize` bytes. */
export function mutate(input: Uint8Array, random: Random, others: Others, maxSize: number): Uint8Array {
  let result = Uint8Array.from(input);
  for (let left = 1 + random.below(random.chance(0.7) ? 2 : 5); left > 0; left--) {
    result = Uint8Array.from(random.weighted(MUTATIONS)(result, random, others).subarray(0, maxSize));
  }
  return result;
}

/** Returns a part of the input: where it begins and ends. Short ones more often. */
function part(input: Uint8Array, random: Random): [start: number, end: number] {
  const start = random.below(input.length + 1);
  const most = random.chance(0.7) ? 8 : input.length;
  return [start, Math.min(input.length, start + random.below(most + 1))];
}

/** Returns the input with the part from `start` to `end` replaced. */
function replaced(input: Uint8Array, start: number, end: number, by: Uint8Array): Uint8Array {
  const result = new Uint8Array(input.length - (end - start) + by.length);
  result.set(input.subarray(0, start));
  result.set(by, start);
  result.set(input.subarray(end), start + by.length);
  return result;
}

const changeByte: Mutation = (input, random) => {
  if (input.length === 0) return Uint8Array.of(random.below(256));
  const at = random.below(input.length);
  const how = random.below(4);
  if (how === 0) input[at] ^= 1 << random.below(8);
  else if (how === 1) input[at] = random.below(256);
  else if (how === 2) input[at] = random.pick(EDGES);
  else input[at] += random.pick([-1, 1]);
  return input;
};

const remove: Mutation = (input, random) => replaced(input, ...part(input, random), new Uint8Array(0));

const repeat: Mutation = (input, random) => {
  const [start, end] = part(input, random);
  const times = random.chance(0.8) ? 1 + random.below(3) : 1 + random.below(200);
  const piece = input.subarray(start, end);
  const copies = new Uint8Array(piece.length * times);
  for (let i = 0; i < times; i++) copies.set(piece, i * piece.length);
  return replaced(input, end, end, copies);
};

const move: Mutation = (input, random) => {
  const [start, end] = part(input, random);
  const at = random.below(input.length + 1);
  return replaced(input, at, at, input.slice(start, end));
};

const insert: Mutation = (input, random) => {
  const at = random.below(input.length + 1);
  return replaced(input, at, at, Uint8Array.from({ length: 1 + random.below(6) }, () => random.below(256)));
};

const truncate: Mutation = (input, random) => input.subarray(0, random.below(input.length + 1));

/** Replaces the rest of an input by the rest of another one. */
const splice: Mutation = (input, random, { pool }) => {
  const other = random.pick(pool);
  const [start, end] = part(other, random);
  return random.chance(0.5)
    ? replaced(input, ...part(input, random), other.slice(start, end))
    : replaced(input, random.below(input.length + 1), input.length, other.subarray(start));
};

const putToken: Mutation = (input, random, { tokens }) => {
  if (tokens.length === 0) return changeByte(input, random, { pool: [], tokens });
  const [start, end] = random.chance(0.5) ? part(input, random) : Array(2).fill(random.below(input.length + 1));
  return replaced(input, start, end, random.pick(tokens));
};

/** Changes a decimal number in a text. */
const changeNumber: Mutation = (input, random, others) => {
  const numbers = [...Array.from(input, (byte) => String.fromCharCode(byte)).join("").matchAll(/\d+/g)];
  if (numbers.length === 0) return putToken(input, random, others);
  const { 0: text, index } = random.pick(numbers);
  const value = random.pick([
    String(Number(text) + random.pick([-1, 1])),
    "0",
    `0${text}`,
    text + text,
    "9".repeat(1 + random.below(30)),
    String(random.below(300)),
    "-1",
  ]);
  return replaced(input, index, index + text.length, new TextEncoder().encode(value));
};

const MUTATIONS: readonly (readonly [weight: number, mutation: Mutation])[] = [
  [8, changeByte],
  [3, remove],
  [2, repeat],
  [2, move],
  [2, insert],
  [1, truncate],
  [3, splice],
  [5, putToken],
  [2, changeNumber],
];
