import assert from "node:assert/strict";
import { UploadError } from "../../../lib/upload/mod.ts";
import { BOUNDARY, form, formOf, parse } from "../../upload/form/forms.ts";
import { choices, cut, ending, type Target } from "../target.ts";

/** Low limits, so that inputs reach them. */
const LIMITS = { maxParts: 5, maxHeaderBytes: 300, maxNameBytes: 40, maxFieldBytes: 100 };

function outcomeOf(pieces: readonly Uint8Array[]): unknown {
  try {
    return parse(pieces, LIMITS);
  } catch (error) {
    assert.ok(error instanceof UploadError, `not an UploadError: ${error}`);
    return ending(error);
  }
}

/** The body of a form with the boundary XbX. */
export const multipart: Target = {
  name: "multipart",
  what: "forms: understood or refused alike, however they are cut",
  maxSize: 1500,
  tokens: [
    ...`\r\n--${BOUNDARY}\r\n|\r\n--${BOUNDARY}--\r\n|--${BOUNDARY}|\r\n|\r\n\r\n|--|\r|; |=|"|\\"|%22|*=|utf-8''%e2%82|\0`
      .split("|"),
    ...'name="a"|filename="b"|filename*=UTF-8\'\'c|Content-Disposition: form-data; |Content-Type: text/x\r\n'.split(
      "|",
    ),
    ...`Content-Transfer-Encoding: base64\r\n|${"x".repeat(300)}|Xb|\r\n--Xb|é|😀`.split("|"),
  ],

  seeds(): Uint8Array[] {
    const part = 'Content-Disposition: form-data; name="';
    return [
      formOf(`${part}a"`),
      formOf(`${part}a"; filename="b.txt"\nContent-Type: text/plain`, "one\r\n--Xbtwo"),
      form(`--XbX\n${part}a"\n\n1\n--XbX\n${part}b"; filename*=UTF-8''%e2%82%ac.txt\n\n2\n--XbX--\nend`),
      form(`before\n--XbX \t\n${part}\\"q%22"\ncontent-type: a/b;\n c=d\n\n\n--XbX--`),
    ];
  },

  check(input): string {
    const whole = outcomeOf(input.length === 0 ? [] : [Uint8Array.from(input)]);
    assert.deepEqual(outcomeOf(cut(input, choices(input))), whole, "something else when cut");
    if (typeof whole === "string") return whole;
    return (whole as unknown[][]).map(([, filename]) => filename === null ? "text" : "file").join(" ");
  },
};
