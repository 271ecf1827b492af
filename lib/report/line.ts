/** The line that visits are reckoned for: an ordinary 4G connection. */
export const LINE = {
  /** Megabits a second towards the visitor. */
  megabits: 9,
  /** The time there and back, in ms. */
  roundTrip: 170,
} as const;

/** How many times there and back a connection takes before the first request: the name, TCP and TLS. */
const SET_UP = 3;

/**
 * The time in ms that a visit takes: a connection is set up, and files whose names are found together are asked for
 * together. Servers and scripts take no time here.
 *
 * @param stages The bytes of the page, then of what it refers to, then of what that refers to; undefined where nothing
 * is asked for.
 */
export function timeOf(stages: readonly (number | undefined)[]): number {
  let ms = SET_UP * LINE.roundTrip;
  for (const bytes of stages) if (bytes !== undefined) ms += LINE.roundTrip + (bytes * 8) / (LINE.megabits * 1000);
  return ms;
}
