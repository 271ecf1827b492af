/** Exports for other folders of the package, which users do not see. */
export { type InvalidNumber, MAX_LINE_LENGTH, NumberFormatter, type OnInvalidNumber } from "./number_to_line_stream.ts";
