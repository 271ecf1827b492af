/** The share that is saved, with a sign: `−78%`; never all of it, nor none, if that is not so. */
export function saving(before: number, after: number): string {
  return before === 0 ? "0%" : signed(after / before - 1);
}

/** A share that something has become larger by, with its sign. */
export function signed(share: number): string {
  const isNearWhole = share > -1 && share < -0.99;
  const size = Math.abs(share * 100).toFixed(isNearWhole ? 1 : 0);
  return Number(size) === 0 ? "0%" : `${share < 0 ? "−" : "+"}${size}%`;
}
