/** What other folders of the package may use of this one, and users do not see. */
export { type InvalidNumber, LONGEST_LINE, NumberFormatter, type OnInvalidNumber } from "./number_formatter.ts";
