import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { parseDictionary } from "../../../lib/semantics/structured_fields.ts";
import { ending, type Target } from "../target.ts";

/** RFC 9651 as one pattern, without conditions that a pattern cannot express: complete bytes and valid UTF-8. */
const KEY = "[a-z*][a-z0-9_.*-]*";
const ITEM = '(?:-?(?:\\d{1,12}\\.\\d{1,3}|\\d{1,15})|@-?\\d{1,15}|"(?:[ !#-\\[\\]-~]|\\\\["\\\\])*"' +
  '|[A-Za-z*][A-Za-z0-9:/!#$%&\'*+.^_`|~-]*|\\?[01]|:[A-Za-z0-9+/]*={0,2}:|%"(?:[ !#$&-~]|%[0-9a-f]{2})*")';
const PARAMETERS = `(?:; *${KEY}(?:=${ITEM})?)*`;
const LIST = `\\( *(?:${ITEM}${PARAMETERS}(?: +${ITEM}${PARAMETERS})*)? *\\)`;
const MEMBER = `${KEY}(?:=(?:${ITEM}|${LIST}))?${PARAMETERS}`;
const DICTIONARY = new RegExp(`^ *(?:${MEMBER}(?:[ \\t]*,[ \\t]*${MEMBER})*[ \\t]*)?$`);

/** Values of `Content-Digest` and the like. */
export const dictionaries: Target = {
  name: "dictionaries",
  what: "structured dictionaries: taken as RFC 9651's grammar has it, and the same when written again",
  maxSize: 120, // the pattern is not linear
  tokens: 'sha-256=:|:|, |,|;|; a=1|=|(|)|"x"|\\"|?1|@1|%"f%c3%bc"|1.5|-|AA==|=:AA==:|*|token/x|(1 2)|\t| '.split("|"),

  seeds(): Uint8Array[] {
    return [
      `sha-256=:${Buffer.alloc(32).toString("base64")}:, md5=:AA==:;old`,
      'a=(), b=( 1 2.5  "x";q=1 ?0 );p, c=(:AA==:)',
      'a=%"f%c3%bc%c3%bc", *b-c_d.e=token/x:y, f=@-17',
      "a;x=1, b=?1;y;  z=-0.125\t,\tc",
    ].map((text) => new TextEncoder().encode(text));
  },

  check(input): string {
    const text = Buffer.from(input).toString("latin1");
    let members: ReturnType<typeof parseDictionary>;
    try {
      members = parseDictionary(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const isBeyondGrammar = /base64|UTF-8/.test(error.message);
      assert.ok(isBeyondGrammar || !DICTIONARY.test(text), `it is a dictionary by the grammar: ${error.message}`);
      return ending(error).replace(/at position.*/, "");
    }
    assert.ok(DICTIONARY.test(text), "it is none by the grammar");
    const written = [...members].map(([key, value]) =>
      value === undefined ? key : `${key}=:${Buffer.from(value).toString("base64")}:`
    );
    assert.deepEqual(parseDictionary(written.join(", ")), members, "another one when written again");
    return [...members.values()].map((value) => value === undefined ? "other" : "bytes").join(" ").slice(0, 40);
  },
};
