import { assertEqual, type Check, type Library } from "./check.ts";

/** The server's description of the body at `/lines.zst`. */
interface Lines {
  readonly lines: number;
  readonly sum: number;
  readonly bytes: number;
}

/** Checks that a body is streamed: the server sends its second half once the first 1,000 lines have arrived. */
async function streamed({ DecompressionStream, LineStream, fromNative }: Library): Promise<string> {
  const about = await (await fetch("/lines.json")).json() as Lines;
  const { body } = await fetch("/lines.zst");
  const lines = fromNative(body!).pipeThrough(new DecompressionStream("zstd")).pipeThrough(new LineStream());
  let [count, sum] = [0, 0];
  for await (const line of lines) {
    if (++count === 1000) await fetch("/release", { method: "POST" });
    sum += Number(line);
  }
  assertEqual([count, sum], [about.lines, about.sum]);
  return `${about.lines} lines of ${(about.bytes / 1e6).toFixed(1)} MB`;
}

async function hasLeft(): Promise<boolean> {
  return await (await fetch("/left", { method: "POST" })).text() === "left";
}

/** Detects browsers that continue a request whose body is cancelled late: Firefox does, with its own streams, too. */
async function leavesByItself(): Promise<boolean> {
  const reader = (await fetch("/lines.zst")).body!.getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 500));
  await reader.cancel();
  return await hasLeft();
}

async function cancelled({ DecompressionStream, LineStream, pipeThrough }: Library): Promise<string> {
  const { body } = await fetch("/lines.zst");
  const lines = pipeThrough(body!, new DecompressionStream("zstd")).pipeThrough(new LineStream());
  for await (const _ of lines) break;
  if (await hasLeft()) return "the server saw the reader leave";
  assertEqual(await leavesByItself(), false);
  return "the browser goes on with a cancelled request";
}

/** The checks that load no more than a decoder. */
export const fetchChecks: readonly Check[] = [
  { name: "fetch() streams through DecompressionStream and LineStream", run: streamed },
  { name: "leaving the loop over a body ends the request", run: cancelled },
];
