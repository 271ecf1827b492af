import { svg, timeText, widthOf } from "./plot.ts";
import type { Lap } from "./race_worker.ts";

const LEFT = 128;
const RIGHT = 122;
const ROW = 62;

/** The race of streams: a button that starts and cancels it, and a plot. */
export class RaceSection {
  readonly #button: HTMLButtonElement;
  readonly #plot: SVGElement;
  readonly #status: HTMLElement;
  readonly #script: URL;
  #worker: Worker | undefined;
  #laps: Lap[] = [];

  constructor(section: HTMLElement, script: URL) {
    this.#button = section.querySelector("button")!;
    this.#plot = section.querySelector("svg")!;
    this.#status = section.querySelector("output")!;
    this.#script = script;
    this.#button.addEventListener("click", () => this.#worker ? this.#end("Cancelled.") : this.#start());
  }

  #start(): void {
    this.#laps = [];
    this.#button.textContent = "Cancel";
    this.#status.textContent = "Racing …";
    const worker = this.#worker = new Worker(this.#script, { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Lap | "done">) => {
      if (data === "done") return this.#end(this.#summary());
      this.#laps.push(data);
      this.#draw();
    };
    worker.onerror = ({ message }) => this.#end(`The race failed: ${message}`);
    worker.postMessage("start");
  }

  #end(words: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#button.textContent = "Race again";
    this.#status.textContent = words;
  }

  #times(race: string, runner: Lap["runner"]): number[] {
    return this.#laps.filter((lap) => lap.race === race && lap.runner === runner).map(({ ms }) => ms)
      .sort((a, b) => a - b);
  }

  get #races(): string[] {
    return [...new Set(this.#laps.map(({ race }) => race))];
  }

  #ratio(race: string): number {
    return median(this.#times(race, "native")) / median(this.#times(race, "millrace"));
  }

  #summary(): string {
    return this.#races.map((race) => {
      const ratio = this.#ratio(race);
      return `Through ${race} ours take ${timeText(median(this.#times(race, "millrace")))}, the browser's own ${
        timeText(median(this.#times(race, "native")))
      }: ${ratio.toFixed(1)} times as fast.`;
    }).join(" ");
  }

  /** A bar of the median for each runner, with a mark for each round. */
  #draw(): void {
    const most = Math.max(...this.#laps.map(({ ms }) => ms));
    const width = widthOf(this.#plot);
    const x = (ms: number): number => LEFT + ms / most * (width - LEFT - RIGHT);
    const children = this.#races.flatMap((race, i) => {
      const at = i * ROW + 8;
      const ratio = this.#ratio(race);
      const bars = (["native", "millrace"] as const).flatMap((runner, j) => {
        const y = at + j * 22;
        const times = this.#times(race, runner);
        if (times.length === 0) return [];
        const middle = median(times);
        return [
          svg("rect", { class: `bar ${runner}`, x: LEFT, y, width: Math.max(1, x(middle) - LEFT), height: 17, rx: 2 }),
          ...times.map((ms) => svg("line", { class: "lap", x1: x(ms), x2: x(ms), y1: y + 3, y2: y + 14 })),
          svg("text", { x: x(times.at(-1)!) + 8, y: y + 13 }, `${runner} ${timeText(middle)}`),
        ];
      });
      const head = svg("text", { class: "race", x: LEFT - 12, y: at + 14, "text-anchor": "end" }, race);
      const factor = Number.isFinite(ratio) ? `${ratio.toFixed(1)}×` : "";
      return [head, svg("text", { class: "ratio", x: LEFT - 12, y: at + 34, "text-anchor": "end" }, factor), ...bars];
    });
    this.#plot.setAttribute("viewBox", `0 0 ${width} ${Math.max(1, this.#races.length) * ROW}`);
    this.#plot.replaceChildren(...children);
    this.#plot.toggleAttribute("hidden", false);
  }
}

function median(sorted: readonly number[]): number {
  return sorted[sorted.length >> 1];
}
