import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { formatHTTPDate, parseHTTPDate } from "../../lib/semantics/mod.ts";

const nov1994 = Date.UTC(1994, 10, 6, 8, 49, 37);

const wellFormed: readonly (readonly [text: string, ms: number])[] = [
  // RFC 9110, section 5.6.7: one time in each of the three formats.
  ["Sun, 06 Nov 1994 08:49:37 GMT", nov1994],
  ["Sunday, 06-Nov-94 08:49:37 GMT", nov1994],
  ["Sun Nov  6 08:49:37 1994", nov1994],
  ["Sun Nov 06 08:49:37 1994", nov1994],
  ["Wed Nov 16 08:49:37 1994", Date.UTC(1994, 10, 16, 8, 49, 37)],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ["Wed, 31 Dec 1969 23:59:59 GMT", -1000],
  ["Thu, 29 Feb 2024 23:59:59 GMT", Date.UTC(2024, 1, 29, 23, 59, 59)],
  ["Sat, 31 Dec 2016 23:59:60 GMT", Date.UTC(2017, 0, 1)],
  ["Fri, 31 Dec 9999 23:59:59 GMT", Date.UTC(9999, 11, 31, 23, 59, 59)],
  ["Fri, 01 Jan 0099 00:00:00 GMT", new Date("0099-01-01T00:00:00Z").getTime()],
  ["Wednesday, 09-Nov-94 08:49:37 GMT", Date.UTC(1994, 10, 9, 8, 49, 37)],
  // The day of the week is not checked.
  ["Mon, 06 Nov 1994 08:49:37 GMT", nov1994],
];

for (const [text, ms] of wellFormed) {
  test(`parseHTTPDate() reads ${text}`, () => assert.equal(parseHTTPDate(text), ms));
}

const malformed = [
  "",
  "0",
  "784111777",
  "1994-11-06T08:49:37Z",
  "Sun, 06 Nov 1994 08:49:37",
  "Sun, 06 Nov 1994 08:49:37 UTC",
  "Sun, 06 Nov 1994 08:49:37 +0000",
  "Sun, 06 Nov 1994 08:49:37 gmt",
  "sun, 06 nov 1994 08:49:37 GMT",
  "Sun, 6 Nov 1994 08:49:37 GMT",
  "Sun,06 Nov 1994 08:49:37 GMT",
  "Sun, 06  Nov 1994 08:49:37 GMT",
  " Sun, 06 Nov 1994 08:49:37 GMT",
  "Sun, 06 Nov 1994 08:49:37 GMT ",
  "Sun, 06 Nov 1994 08:49:37 GMT; length=5",
  "Sun, 06 Nov 94 08:49:37 GMT",
  "Sun, 06 Now 1994 08:49:37 GMT",
  "Sunday, 06 Nov 1994 08:49:37 GMT",
  "Sun, 06-Nov-94 08:49:37 GMT",
  "Sunday, 06-Nov-1994 08:49:37 GMT",
  "Sun Nov 6 08:49:37 1994",
  "Sun Nov  6 08:49:37 1994 GMT",
  "Sun, 00 Nov 1994 08:49:37 GMT",
  "Sun, 31 Nov 1994 08:49:37 GMT",
  "Wed, 29 Feb 2023 00:00:00 GMT",
  "Sun, 06 Nov 1994 24:00:00 GMT",
  "Sun, 06 Nov 1994 08:60:00 GMT",
  "Sun, 06 Nov 1994 08:49:61 GMT",
  "Sun, 06 Nov 1994 8:49:37 GMT",
  "Sun, 06 Nov 1994 08:49:37.5 GMT",
];

for (const text of malformed) {
  test(`parseHTTPDate() takes ${JSON.stringify(text)} for no date`, () => assert.equal(parseHTTPDate(text), undefined));
}

test("parseHTTPDate() takes a year of two digits as at most 50 years ahead", () => {
  const now = new Date();
  for (let ahead = -49; ahead <= 49; ahead++) {
    const year = now.getUTCFullYear() + ahead;
    const text = `Sunday, 15-Jun-${String(year % 100).padStart(2, "0")} 12:00:00 GMT`;
    assert.equal(parseHTTPDate(text), Date.UTC(year, 5, 15, 12), text);
  }
});

test("parseHTTPDate() takes a year of two digits more than 50 years ahead as past", () => {
  const tomorrow = new Date(Date.now() + 48 * 3600 * 1000); // in 50 years and two days
  const [, day, month, year] = formatHTTPDate(tomorrow.getTime()).split(" ");
  if (`${day} ${month}` === "29 Feb") return;
  const past = Number(year) - 50;
  const text = `Sunday, ${day}-${month}-${String(past % 100).padStart(2, "0")} 00:00:00 GMT`;
  assert.equal(new Date(parseHTTPDate(text) ?? 0).getUTCFullYear(), past);
});

test("parseHTTPDate() reads every second that formatHTTPDate() writes", () => {
  const seconds = fc.integer({ min: Date.UTC(0, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 });
  fc.assert(
    fc.property(seconds, (second) => assert.equal(parseHTTPDate(formatHTTPDate(second * 1000)), second * 1000)),
  );
});

test("formatHTTPDate() writes the preferred format and drops fractions of seconds", () => {
  assert.equal(formatHTTPDate(nov1994), "Sun, 06 Nov 1994 08:49:37 GMT");
  assert.equal(formatHTTPDate(nov1994 + 999.99), "Sun, 06 Nov 1994 08:49:37 GMT");
});

test("parseHTTPDate() takes a megabyte for no date", () => {
  for (const filler of [" ", "Sun, ", "0", ":"]) {
    assert.equal(parseHTTPDate(`Sun, 06 Nov 1994 08:49:37 GMT${filler.repeat(1_000_000)}`), undefined);
  }
});
