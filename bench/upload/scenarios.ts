const MB = 1_000_000;

/** Uploads that are sent all at once. */
export interface Scenario {
  readonly title: string;
  readonly uploads: number;
  /** The size of each. */
  readonly bytes: number;
  readonly rounds: number;
}

/** The scenarios whose times are compared. */
export const scenarios: readonly Scenario[] = [
  { title: "200 x 15 MB", uploads: 200, bytes: 15 * MB, rounds: 3 },
  { title: "1,000 x 1 MB", uploads: 1000, bytes: MB, rounds: 2 },
  { title: "4 x 2 GB", uploads: 4, bytes: 2000 * MB, rounds: 1 },
];

/** The scenarios whose memory is compared: equal bytes in both, so that growth over time is equal. */
export const growth: readonly [few: Scenario, many: Scenario] = [
  { title: "50 x 64 MB", uploads: 50, bytes: 64 * MB, rounds: 1 },
  { title: "400 x 8 MB", uploads: 400, bytes: 8 * MB, rounds: 1 },
];
