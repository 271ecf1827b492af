import { quoted } from "../streams/internal.ts";

/**
 * A line that is not JSON.
 *
 * @example The lines that were left out
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { type InvalidJsonLine, JsonLineStream } from "@millrace/streams/text";
 *
 * const leftOut: InvalidJsonLine[] = [];
 * const records = new JsonLineStream({ onInvalid: (invalid) => void leftOut.push(invalid) });
 * for await (const record of ReadableStream.from(["{}\n{\n"]).pipeThrough(records)) console.log(record); // {}
 * for (const { line, text } of leftOut) console.log(`${line}: ${text}`); // 2: {
 * ```
 */
export interface InvalidJsonLine {
  /** Which line, counted from 1; blank lines count. */
  readonly line: number;
  /** Its text, without the ending. */
  readonly text: string;
  /** The error of `JSON.parse()`, whose message depends on the runtime. */
  readonly error: SyntaxError;
}

/**
 * Handles a line that is not JSON: returns the value that takes its place, or `undefined` to leave it out.
 *
 * @example Keep the text of such lines
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonLineStream, type OnInvalidJsonLine } from "@millrace/streams/text";
 *
 * const asText: OnInvalidJsonLine<unknown> = ({ text }) => ({ message: text });
 * const log = ReadableStream.from(['{"message":"up"}\nSegmentation fault\n']);
 * for await (const entry of log.pipeThrough(new JsonLineStream({ onInvalid: asText }))) {
 *   console.log(JSON.stringify(entry)); // {"message":"up"}, {"message":"Segmentation fault"}
 * }
 * ```
 */
export type OnInvalidJsonLine<T> = (invalid: InvalidJsonLine) => T | undefined;

/** The error of a stream that is not told what to do with such lines. */
export function invalidJsonError({ line, text, error }: InvalidJsonLine): SyntaxError {
  return new SyntaxError(`line ${line}: ${quoted(text)} is not JSON`, { cause: error });
}
