import { type Axis, linearAxis, logAxis } from "./axis.ts";

/** A bar of the plot. */
export interface Bar {
  /** The runtime's name, which determines the colour. */
  readonly runtime: string;
  readonly value: number;
  /** Text printed right after the value. */
  readonly note?: string;
}

/** Bars with one label. */
export interface BarRow {
  readonly label: string;
  readonly bars: readonly Bar[];
}

/** The rows below one heading. */
export interface BarGroup {
  /** The heading; undefined for a plot of one group. */
  readonly heading?: string;
  readonly rows: readonly BarRow[];
}

/** A plot of horizontal bars. */
export interface BarPlot {
  readonly title: string;
  /** The unit of the numbers, in a few words. */
  readonly unit: string;
  /** The description for readers who can't see the plot. */
  readonly description: string;
  /** The runtimes, by name, with their labels in the legend. */
  readonly legend: ReadonlyMap<string, string>;
  /** The scale: on `log`, bars begin at 1 and extend either way; on `linear`, at 0. */
  readonly scale: "log" | "linear";
  /** The value drawn with a strong line. */
  readonly line: number;
  /** The captions left and right of the line: which side is better. */
  readonly sides?: readonly [left: string, right: string];
  readonly groups: readonly BarGroup[];
}

const WIDTH = 880;
const TOP = 112;
const BAR = 9;
const BAR_PITCH = 13;
const ROW_GAP = 9;
const HEADING = 34;
const MARGIN = 16;
const LETTER = 7.3;
const HEADING_LETTER = 7.5;
const SMALL_LETTER = 6.2;

const STYLE = `
    text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2933; }
    .title { font-size: 18px; font-weight: 600; }
    .heading { font-weight: 600; }
    .small { font-size: 12px; fill: #52606d; }
    .value { font-size: 11.5px; font-variant-numeric: tabular-nums; stroke: #fff; stroke-width: 3px; paint-order: stroke; }
    .end { text-anchor: end; }
    .middle { text-anchor: middle; }
    .tick { stroke: #d9dee4; stroke-width: 1; }
    .line { stroke: #1f2933; stroke-width: 1.5; }
    .Node { fill: #3f9c6b; }
    .Bun { fill: #e0a03a; }
    .Deno { fill: #4377b3; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e7eb; }
      .small { fill: #9aa5b1; }
      .value { stroke: #0d1117; }
      .tick { stroke: #39424c; }
      .line { stroke: #e4e7eb; }
      .Node { fill: #5cbd8a; }
      .Bun { fill: #efbc62; }
      .Deno { fill: #7aaae0; }
    }`;

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function textAt(x: number, y: number, classes: string, text: string): string {
  return `  <text class="${classes}" x="${round(x)}" y="${round(y)}">${escaped(text)}</text>`;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

/** Returns a number with its significant digits only: 0.04, 0.97, 1.68, 5.4, 24. */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size < 0.095 && size !== 0) return String(Number(value.toPrecision(1)));
  return value.toFixed(size < 1.995 ? 2 : size < 9.95 ? 1 : 0);
}

function valueText({ value, note }: Bar): string {
  return note === undefined ? shortNumber(value) : `${shortNumber(value)}${note}`;
}

/** Checks for a bold label: this package's, even where its peers have bars, too. */
function isBold(label: string): boolean {
  return label.startsWith("ours");
}

function widthOf(label: string): number {
  return label.length * (isBold(label) ? HEADING_LETTER : LETTER);
}

/** Returns the axis: right of all labels, with room for the values at the ends of the bars. */
function axisOf({ groups, scale }: BarPlot): { axis: Axis; labelsEnd: number } {
  const rows = groups.flatMap(({ rows }) => rows);
  const bars = rows.flatMap(({ bars }) => bars);
  const values = bars.map(({ value }) => value);
  const start = scale === "log" ? 1 : 0;
  const room = (some: readonly Bar[]): number => {
    return some.length === 0 ? 0 : 10 + SMALL_LETTER * Math.max(...some.map((bar) => valueText(bar).length));
  };
  const headings = groups.map(({ heading = "" }) => heading.length * HEADING_LETTER);
  const labelsEnd = MARGIN + Math.max(...headings, ...rows.map(({ label }) => widthOf(label)));
  const left = labelsEnd + 12 + room(bars.filter(({ value }) => value < start));
  const right = WIDTH - MARGIN - room(bars.filter(({ value }) => value >= start));
  return { axis: (scale === "log" ? logAxis : linearAxis)(values, { left, right }), labelsEnd };
}

function drawLegend(legend: ReadonlyMap<string, string>, y: number): string[] {
  const lines: string[] = [];
  let x = MARGIN;
  for (const [runtime, label] of legend) {
    lines.push(`  <rect class="${runtime}" x="${round(x)}" y="${y - 10}" width="12" height="12" rx="2" />`);
    lines.push(textAt(x + 18, y, "small", label));
    x += 18 + label.length * SMALL_LETTER + 22;
  }
  return lines;
}

/** Returns a bar over its value, so that the value's halo hides lines only. */
function drawBar(bar: Bar, y: number, start: number, axis: Axis): string[] {
  const [from, to] = [axis.at(start), axis.at(bar.value)];
  const isLeft = to < from;
  const width = Math.max(1.5, Math.abs(to - from));
  const x = isLeft ? from - width : from;
  return [
    textAt(isLeft ? x - 5 : x + width + 5, y + BAR - 0.5, isLeft ? "value end" : "value", valueText(bar)),
    `  <rect class="${bar.runtime}" x="${round(x)}" y="${round(y)}" width="${
      round(width)
    }" height="${BAR}" rx="1.5" />`,
  ];
}

function drawRow({ label, bars }: BarRow, y: number, start: number, axis: Axis, labelsEnd: number): string[] {
  const middle = y + (bars.length * BAR_PITCH) / 2;
  const drawn = bars.map((bar, i) => drawBar(bar, y + i * BAR_PITCH, start, axis));
  return [
    textAt(labelsEnd, middle + 3, isBold(label) ? "heading end" : "end", label),
    ...drawn.map(([value]) => value),
    ...drawn.map(([, rect]) => rect),
  ];
}

function drawAxis({ line, sides }: BarPlot, axis: Axis, bottom: number): string[] {
  const top = TOP - 8;
  const vertical = (value: number, name: string): string => {
    const x = round(axis.at(value));
    return `  <path class="${name}" d="M${x} ${top}V${bottom}" />`;
  };
  const lines = axis.ticks.map((tick) => vertical(tick, "tick"));
  lines.push(...axis.ticks.map((tick) => textAt(axis.at(tick), bottom + 16, "small middle", String(tick))));
  lines.push(vertical(line, "line"));
  if (sides) {
    const x = axis.at(line);
    lines.push(textAt(x - 8, top - 6, "small end", `← ${sides[0]}`), textAt(x + 8, top - 6, "small", `${sides[1]} →`));
  }
  return lines;
}

/** Returns the plot as SVG, for light and dark. */
export function drawBars(plot: BarPlot): string {
  const { axis, labelsEnd } = axisOf(plot);
  const start = plot.scale === "log" ? 1 : 0;
  const drawn: string[] = [];
  let y = TOP;
  for (const { heading, rows } of plot.groups) {
    if (heading !== undefined) {
      drawn.push(textAt(MARGIN, y + 14, "heading", heading));
      y += HEADING - 8;
    }
    for (const row of rows) {
      drawn.push(...drawRow(row, y, start, axis, labelsEnd));
      y += row.bars.length * BAR_PITCH + ROW_GAP;
    }
    y += heading === undefined ? 0 : 6;
  }
  const height = y + 28;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">`,
    `  <title id="title">${escaped(plot.title)}</title>`,
    `  <desc id="desc">${escaped(plot.description)}</desc>`,
    `  <style>${STYLE}\n  </style>`,
    textAt(MARGIN, 30, "title", plot.title),
    textAt(MARGIN, 51, "small", plot.unit),
    ...drawLegend(plot.legend, 76),
    ...drawAxis(plot, axis, y),
    ...drawn,
    "</svg>\n",
  ].join("\n");
}
