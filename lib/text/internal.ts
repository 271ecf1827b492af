/** Exports for other folders of the package, which users do not see. */
export { type InvalidNumber, LONGEST_LINE, NumberFormatter, type OnInvalidNumber } from "./number_to_line_stream.ts";
