/** A part of an area. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Divides an area into rectangles of the given weights that are about as wide as high (Bruls, Huizing and van Wijk:
 * Squarified Treemaps).
 *
 * @param weights In falling order, each above 0.
 */
export function squarify(weights: readonly number[], area: Rectangle): Rectangle[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const scale = (area.width * area.height) / (total || 1);
  const made: Rectangle[] = [];
  let { x, y, width, height } = area;
  for (let start = 0; start < weights.length;) {
    const side = Math.min(width, height);
    let end = start;
    let sum = 0;
    let worst = Infinity;
    while (end < weights.length) {
      const larger = sum + weights[end]! * scale;
      const next = worstRatio(weights[start]! * scale, weights[end]! * scale, larger, side);
      if (next > worst) break;
      [sum, worst] = [larger, next];
      end++;
    }
    const depth = side === 0 ? 0 : sum / side;
    let offset = 0;
    for (; start < end; start++) {
      const length = depth === 0 ? 0 : (weights[start]! * scale) / depth;
      made.push(
        width >= height
          ? { x, y: y + offset, width: depth, height: length }
          : { x: x + offset, y, width: length, height: depth },
      );
      offset += length;
    }
    if (width >= height) [x, width] = [x + depth, Math.max(0, width - depth)];
    else [y, height] = [y + depth, Math.max(0, height - depth)];
  }
  return made;
}

/** How far from a square the longest part of a row is. */
function worstRatio(largest: number, smallest: number, sum: number, side: number): number {
  return Math.max((side * side * largest) / (sum * sum), (sum * sum) / (side * side * smallest));
}
