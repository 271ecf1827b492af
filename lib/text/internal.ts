/** Exports for other folders of the package, which users do not see. */
export { MAX_LINE_LENGTH, NumberFormatter } from "./number_to_line_stream.ts";
