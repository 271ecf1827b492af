import { collected, streamOf } from "../../support/streams.ts";
import { piecesOf, sha256, sourceText } from "../../support/bytes.ts";
import { samples } from "../../codecs/samples.ts";
import type { Format } from "../../../mod.ts";
import { assertEqual, type Check, type Library } from "./check.ts";

/** The form of the names in golden.json: `brotli 11 source text`. */
const NAME = /^(\S+) (\d+) (.+)$/;
const dictionary = sourceText(40_000, 3);

async function hashed(library: Library, name: string): Promise<string> {
  const [, format, level, sample] = NAME.exec(name) as unknown as [string, Format, string, string];
  const options = { level: Number(level), ...(/^dc/.test(format) ? { dictionary } : {}) };
  if (sample !== "streamed") return sha256(await library.compress(samples[sample]!, { format, ...options }));
  const pieces = streamOf(piecesOf(samples["source text"]!, 9000));
  return sha256(await collected(pieces.pipeThrough(new library.CompressionStream(format, options))));
}

async function golden(library: Library): Promise<string> {
  const recorded = Object.entries(await (await fetch("/golden.json")).json() as Record<string, string>);
  for (const [name, hash] of recorded) assertEqual([name, await hashed(library, name)], [name, hash]);
  return `${recorded.length} hashes`;
}

/** The bytes that every runtime gives. */
export const goldenChecks: readonly Check[] = [
  { name: "gives the bytes that Node, Deno and Bun give", run: golden },
];
