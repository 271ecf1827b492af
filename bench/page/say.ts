import { shortNumber } from "./bars.ts";

/** Returns prose with figures; undefined if a figure is, so that prose has measured figures only. */
export function say(
  text: TemplateStringsArray,
  ...figures: readonly (string | number | undefined)[]
): string | undefined {
  if (figures.includes(undefined)) return undefined;
  const told = figures.map((figure) => typeof figure === "number" ? shortNumber(figure) : figure!);
  return String.raw({ raw: text.map((part) => part.replace(/\s+/g, " ")) }, ...told);
}

/** Returns the minimum and the maximum of some numbers, as in `1.1 to 1.5`; undefined for no numbers. */
export function span(numbers: readonly number[], write: (number: number) => string = shortNumber): string | undefined {
  if (numbers.length === 0) return undefined;
  const [least, most] = [write(Math.min(...numbers)), write(Math.max(...numbers))];
  return least === most ? least : `${least} to ${most}`;
}

/** Returns a count with separators, as in `4,969`. */
export function count(number: number): string {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}
