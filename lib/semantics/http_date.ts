const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const LONG_DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const TIME = "(?<time>[0-2][0-9]:[0-5][0-9]:[0-6][0-9])";
const MONTH = `(?<month>${MONTHS.join("|")})`;

/** `Sun, 06 Nov 1994 08:49:37 GMT`, the form to send. */
const IMF_FIXDATE = new RegExp(
  `^(?:${DAYS.join("|")}), (?<day>[0-3][0-9]) ${MONTH} (?<year>[0-9]{4}) ${TIME} GMT$`,
);
/** `Sunday, 06-Nov-94 08:49:37 GMT`. */
const RFC850 = new RegExp(
  `^(?:${LONG_DAYS.join("|")}), (?<day>[0-3][0-9])-${MONTH}-(?<year>[0-9]{2}) ${TIME} GMT$`,
);
/** `Sun Nov  6 08:49:37 1994`. */
const ASCTIME = new RegExp(
  `^(?:${DAYS.join("|")}) ${MONTH} (?<day>[0-3][0-9]| [0-9]) ${TIME} (?<year>[0-9]{4})$`,
);
/** The maximum length of a date: that of `Wednesday, 06-Nov-94 08:49:37 GMT`. */
const MAX_DATE_LENGTH = 33;

/**
 * Parses an HTTP date, in any of the three formats, to ms since 1970; `undefined` if it is malformed. A two-digit year
 * that would be more than 50 years ahead is in the past century.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7}
 */
export function parseHTTPDate(text: string): number | undefined {
  if (text.length > MAX_DATE_LENGTH) return undefined;
  const parts = (IMF_FIXDATE.exec(text) ?? RFC850.exec(text) ?? ASCTIME.exec(text))?.groups;
  if (parts === undefined) return undefined;
  const day = Number(parts.day);
  const month = MONTHS.indexOf(parts.month);
  const [hours, minutes, seconds] = parts.time.split(":").map(Number);
  const timeIn = (year: number): number => {
    const date = new Date(0);
    date.setUTCFullYear(year, month, day); // Date.UTC() would treat 0099 as 1999
    // A leap second, 60, becomes the first of the next minute, as in POSIX time.
    date.setUTCHours(hours, minutes, seconds);
    return date.getTime();
  };
  const year = parts.year.length === 2 ? fullYear(Number(parts.year), timeIn) : Number(parts.year);
  if (hours > 23 || seconds > 60 || day < 1 || day > daysIn(year, month)) return undefined;
  return timeIn(year);
}

/** Completes a two-digit year: the last such year that is at most 50 years ahead. */
function fullYear(lastDigits: number, timeIn: (year: number) => number): number {
  const limit = new Date();
  limit.setUTCFullYear(limit.getUTCFullYear() + 50);
  const year = limit.getUTCFullYear() - limit.getUTCFullYear() % 100 + lastDigits;
  return timeIn(year) > limit.getTime() ? year - 100 : year;
}

function daysIn(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month + 1, 0);
  return date.getUTCDate();
}

/** Formats ms since 1970, rounded down, as an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). */
export function formatHTTPDate(ms: number): string {
  return new Date(ms).toUTCString();
}
