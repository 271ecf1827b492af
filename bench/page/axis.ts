/** The placement of values on a horizontal axis. */
export interface Axis {
  /** Returns the position of a value, in pixels. */
  at(value: number): number;
  /** The values that get a line and a label, from left to right. */
  readonly ticks: readonly number[];
}

/** The pixels an axis has. */
export interface Extent {
  readonly left: number;
  readonly right: number;
}

const MOST_TICKS = 9;
const FEWEST_TICKS = 4;
const STEPS: readonly (readonly number[])[] = [[1, 1.2, 1.5, 2, 3, 4, 6, 8], [1, 2, 5], [1]];

/** Returns the ticks of a decade's steps, from fine to coarse: as fine as has room, but no finer than is needed. */
function logTicks(low: number, high: number): number[] {
  const [fine, usual, powers] = STEPS.map((steps) => {
    const all: number[] = [];
    for (let power = -6; power <= 6; power++) all.push(...steps.map((step) => Number(`${step}e${power}`)));
    return all.filter((tick) => tick >= low && tick <= high);
  });
  if (usual.length > MOST_TICKS) return powers;
  return usual.length < FEWEST_TICKS ? fine : usual;
}

/** Returns an axis on which equal ratios are equally long; 1 is always on it. */
export function logAxis(values: readonly number[], { left, right }: Extent): Axis {
  const low = Math.min(0.92, ...values);
  const high = Math.max(1.25, ...values);
  const scale = (right - left) / Math.log(high / low);
  return { at: (value) => left + Math.log(value / low) * scale, ticks: logTicks(low, high) };
}

/** Returns an axis on which equal differences are equally long; 0 is always on it. */
export function linearAxis(values: readonly number[], { left, right }: Extent): Axis {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values) || 1;
  const scale = (right - left) / (high - low);
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((candidate) => candidate >= rough)!;
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(Number((i * step).toPrecision(6)));
  return { at: (value) => left + (value - low) * scale, ticks };
}
