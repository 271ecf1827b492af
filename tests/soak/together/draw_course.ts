import type { Moment } from "./together.ts";

const SIZE = { width: 720, height: 150, left: 70, right: 700, bottom: 120, top: 30 };
const kinds: readonly (readonly [kind: keyof Moment, title: string])[] = [
  ["rss", "resident memory, MB"],
  ["heap", "heap, MB"],
  ["files", "descriptors"],
  ["p99", "99% of answers within, ms"],
];

/** Draws the figures of a run over its time, below each other. */
export function drawCourse(title: string, minutes: number, moments: readonly Moment[]): string {
  const plots = kinds.map(([kind, name], i) => {
    const values = moments.map((moment) => moment[kind]);
    const most = Math.max(1, ...values);
    const { left, right, top, bottom } = SIZE;
    const points = values.map((value, i) => {
      const x = left + (right - left) * (i + 1) / values.length;
      return `${x.toFixed(1)},${(bottom - (bottom - top) * value / most).toFixed(1)}`;
    });
    return `<g transform="translate(0 ${30 + i * SIZE.height})">
<text x="${left}" y="20">${name}</text>
<text x="${left - 6}" y="${top + 4}" text-anchor="end">${most}</text>
<text x="${left - 6}" y="${bottom}" text-anchor="end">0</text>
<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="#888"/>
<polyline points="${points.join(" ")}" fill="none" stroke="#06c" stroke-width="2"/>
<text x="${right}" y="${bottom + 16}" text-anchor="end">${minutes} min</text>
</g>`;
  });
  const height = 40 + kinds.length * SIZE.height;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${height}" font-family="sans-serif" font-size="12">
<rect width="${SIZE.width}" height="${height}" fill="#fff"/>
<text x="${SIZE.left}" y="20" font-size="15">${title}</text>
${plots.join("\n")}
</svg>
`;
}
