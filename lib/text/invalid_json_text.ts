import { quoted } from "../streams/internal.ts";

/**
 * A text of a JSON text sequence that is not JSON, or may not be all of it.
 *
 * @example The texts that were left out
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { type InvalidJsonText, JsonSequenceDecoderStream } from "@millrace/streams/text";
 *
 * const leftOut: InvalidJsonText[] = [];
 * const values = new JsonSequenceDecoderStream({ onInvalid: (invalid) => void leftOut.push(invalid) });
 * const text = ReadableStream.from(['\x1e{"id":1\x1e{"id":2}\n']);
 * for await (const value of text.pipeThrough(values)) console.log(JSON.stringify(value)); // {"id":2}
 * for (const { index, text } of leftOut) console.log(`${index}: ${text}`); // 0: {"id":1
 * ```
 */
export interface InvalidJsonText {
  /** Which text, counted from 0; empty ones do not count. */
  readonly index: number;
  /** All between two record separators, with the line feed. */
  readonly text: string;
  /** The error of `JSON.parse()`, whose message depends on the runtime, or one that says what else is wrong. */
  readonly error: SyntaxError;
}

/**
 * Handles a text that is not JSON, or may not be all of it: returns the value that takes its place, or `undefined` to leave
 * it out.
 *
 * @example A mark in place of what was cut off
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonSequenceDecoderStream, type OnInvalidJsonText } from "@millrace/streams/text";
 *
 * const asMark: OnInvalidJsonText<unknown> = ({ text }) => ({ lost: text });
 * const log = ReadableStream.from(["\x1e[1,\x1e[2]\n"]);
 * for await (const value of log.pipeThrough(new JsonSequenceDecoderStream({ onInvalid: asMark }))) {
 *   console.log(JSON.stringify(value)); // {"lost":"[1,"}, [2]
 * }
 * ```
 */
export type OnInvalidJsonText<T> = (invalid: InvalidJsonText) => T | undefined;

/** The error of a stream that is not told what to do with such texts. */
export function invalidJsonTextError({ index, text, error }: InvalidJsonText): SyntaxError {
  return new SyntaxError(`the JSON text at index ${index}: ${quoted(text)} is no text of a JSON text sequence`, {
    cause: error,
  });
}
