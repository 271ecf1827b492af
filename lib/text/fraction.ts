import { writeDigits, writeEightDigits } from "./digits.ts";

const ZERO = 48;
const POINT = 46;
const MILLION = 1e6;
/** Below it, a number with six decimals has at most 15 digits. */
const LARGEST_SHORT = 1e9;

/** Writes a positive number that is no integer, with the digits that `String()` gives it, and returns where it ends. */
export function writeFraction(number: number, view: DataView, offset: number): number {
  if (number < LARGEST_SHORT) {
    // Two decimals of at most 15 digits are two doubles: if this one has six decimals, they are the shortest digits.
    const scaled = Math.round(number * MILLION);
    if (scaled / MILLION === number) return writeSixDecimals(scaled, view, offset);
  }
  return writeText(String(number), view, offset);
}

function writeSixDecimals(scaled: number, view: DataView, offset: number): number {
  const integer = Math.floor(scaled / MILLION);
  let at = writeDigits(integer, view, offset);
  const afterPoint = at + 1;
  // Eight digits with two zeros behind; the point goes between.
  at = writeEightDigits((scaled - integer * MILLION) * 100, view, afterPoint) - 2;
  view.setUint8(afterPoint - 1, POINT);
  while (view.getUint8(at - 1) === ZERO) at--;
  return at;
}

/** Writes ASCII text. */
function writeText(text: string, view: DataView, offset: number): number {
  for (let i = 0; i < text.length; i++) view.setUint8(offset + i, text.charCodeAt(i));
  return offset + text.length;
}
