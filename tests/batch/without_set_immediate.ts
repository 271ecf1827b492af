/**
 * Writes batches where there is no `setImmediate()`, as in browsers, and prints the events in their order, as JSON.
 * This is a separate process because streams look for the function when they are loaded.
 */
import process from "node:process";

Reflect.deleteProperty(globalThis, "setImmediate");
const { BatchedWritableStream } = await import("../../lib/batch/mod.ts");
const { atEndOfTurn } = await import("../../lib/streams/internal.ts");

const nextTimer = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 5));
const events: string[] = [];
const push = (event: string): void => void events.push(event);

const writer = new BatchedWritableStream<number>({ writev: (chunks) => push(`writev ${chunks}`) }).getWriter();
void writer.write(1);
void writer.write(2);
for (let microtask = 0; microtask < 12; microtask++) await undefined;
push(events.length === 0 ? "no batch yet" : "too early");
while (events.length === 1) await nextTimer();
atEndOfTurn(() => push("one"));
atEndOfTurn(() => push("two"));
while (events.length < 4) await nextTimer();
void writer.write(3);
await writer.close();
console.log(JSON.stringify(events));
process.exit(0); // the channel that is used then would keep the process
