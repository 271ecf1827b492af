const SVG = "http://www.w3.org/2000/svg";

/** Makes an element of SVG. */
export function svg(name: string, attributes: Readonly<Record<string, string | number>>, text = ""): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.textContent = text;
  return element;
}

/** A point of a plot: a level's time in ms and its share of the original size. */
export interface Point {
  readonly series: string;
  readonly label: string;
  readonly ms: number;
  readonly share: number;
}

const HEIGHT = 300;
const LEFT = 52;
const RIGHT = 104;
const TOP = 14;
const BOTTOM = 40;

/** Returns the width of a plot in its units, which on a phone are fewer, so that words stay readable. */
export function widthOf(plot: SVGElement): number {
  return Math.max(350, Math.min(760, plot.parentElement!.clientWidth));
}

/**
 * Draws sizes by times, with a logarithmic time axis: points to the left are fast, low ones small. Labels are beside
 * the lines' ends.
 */
export function drawLevels(plot: SVGElement, points: readonly Point[]): void {
  const children: SVGElement[] = [];
  const width = widthOf(plot);
  const times = points.map(({ ms }) => Math.max(ms, 0.1));
  const shares = points.map(({ share }) => share);
  const [least, most] = [Math.log10(Math.min(...times)) - 0.1, Math.log10(Math.max(...times)) + 0.1];
  const [low, high] = [Math.min(...shares) * 0.92, Math.max(...shares) * 1.04];
  const x = (ms: number): number =>
    LEFT + (Math.log10(Math.max(ms, 0.1)) - least) / (most - least || 1) * (width - LEFT - RIGHT);
  const y = (share: number): number => TOP + (high - share) / (high - low || 1) * (HEIGHT - TOP - BOTTOM);
  for (let power = Math.ceil(least); power <= most; power++) {
    const at = x(10 ** power);
    children.push(
      svg("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM }),
      svg("text", { x: at, y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, timeText(10 ** power)),
    );
  }
  const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((step) => (high - low) / step < 6) ?? 0.25;
  for (let share = Math.ceil(low / step) * step; share <= high; share += step) {
    children.push(
      svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(share), y2: y(share) }),
      svg("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, `${Math.round(share * 100)}%`),
    );
  }
  const ends: { readonly series: string; readonly name: string; readonly at: number }[] = [];
  for (const series of new Set(points.map(({ series }) => series))) {
    const own = points.filter((point) => point.series === series);
    const name = series.split(" ")[0];
    const path = own.map(({ ms, share }) => `${x(ms).toFixed(1)},${y(share).toFixed(1)}`).join(" ");
    if (own.length > 1) children.push(svg("polyline", { class: `line ${name}`, points: path }));
    for (const { ms, share, label } of own) {
      const dot = svg("circle", { class: `dot ${name}`, cx: x(ms), cy: y(share), r: 4 });
      dot.append(svg("title", {}, label));
      children.push(dot);
    }
    ends.push({ series, name, at: y(own.at(-1)!.share) + 4 });
  }
  let last = TOP;
  for (const { series, name, at } of ends.sort((a, b) => a.at - b.at)) {
    last = Math.max(at, last + 15);
    children.push(svg("text", { class: `series ${name}`, x: width - RIGHT + 10, y: last }, series));
  }
  children.push(svg("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, "time"));
  plot.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  plot.replaceChildren(...children);
}

/** Returns a time in words. */
export function timeText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
