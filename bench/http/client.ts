/**
 * A client in a process of its own; asks as lines of JSON say, and answers with what it took. Arguments: its name, and its
 * setup as JSON.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import type { Failure } from "../line_process.ts";
import type { ClientQuestion, ClientSetup, Took } from "./client_questions.ts";
import { BODY } from "./scenarios.ts";
import type { Way, Ways } from "./ways.ts";

/** The seconds and answers of each line that are not measured, since connections are made and code is compiled in them. */
const WARM_UP = { seconds: 0.2, answers: 5 };
/** Milliseconds. */
const SAMPLED = 50;
const PIECE = new Uint8Array(65_536).fill(97);

const [name, json] = process.argv.slice(2);
const setup = JSON.parse(json) as ClientSetup;
const make = (await waysOf(name))[name];
let kept: Promise<Way> | undefined;

async function waysOf(name: string): Promise<Ways> {
  if (name.startsWith("ours")) return (await import("./ours.ts")).ours;
  if (name.startsWith("undici")) return (await import("./undici_ways.ts")).undiciWays;
  return (await import("./runtime_ways.ts")).runtimeWays;
}

async function measured(requests: number, act: () => Promise<number | void>): Promise<Took> {
  const memory = process.memoryUsage.rss();
  let peak = memory;
  const sampling = setInterval(() => peak = Math.max(peak, process.memoryUsage.rss()), SAMPLED);
  const before = process.cpuUsage();
  const start = performance.now();
  const done = await act().finally(() => clearInterval(sampling));
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  peak = Math.max(peak, process.memoryUsage.rss());
  const cpu = (user + system) / 1e6;
  return { seconds, requests: done ?? requests, cpu, memory: memory / 2 ** 20, peak: peak / 2 ** 20 };
}

/**
 * Sends requests until the time is over and each sequence has enough responses; resolves to the number of responses.
 */
async function askedFor(way: Way, inFlight: number, seconds: number, answers: number): Promise<number> {
  let requests = 0;
  const end = performance.now() + seconds * 1000;
  const line = async (): Promise<void> => {
    for (let done = 0; done < answers || performance.now() < end; done++) {
      const { length } = await way.text();
      if (length !== BODY) throw new TypeError(`a body has ${length} bytes`);
      requests++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, line));
  return requests;
}

async function rate(inFlight: number, seconds: number): Promise<Took> {
  const way = await (kept ??= Promise.resolve(make(setup)));
  await askedFor(way, inFlight, WARM_UP.seconds, WARM_UP.answers);
  return await measured(0, () => askedFor(way, inFlight, seconds, 0));
}

async function burst(requests: number, setup: ClientSetup): Promise<Took> {
  const took = await measured(requests, async () => {
    const way = await make(setup);
    await Promise.all(Array.from({ length: requests }, () => way.text()));
    setImmediate(() => way.end());
  });
  await wait(50); // its remains must not count for the next one
  return took;
}

/** Yields the same chunk repeatedly, so that only sending is measured. */
async function* pieces(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left);
}

async function transfer(direction: "down" | "up", bytes: number): Promise<Took> {
  const way = await (kept ??= Promise.resolve(make(setup)));
  return await measured(1, async () => {
    if (direction === "up") return await way.upload(pieces(bytes)).then(() => 1);
    const came = await way.download();
    if (came !== bytes) throw new TypeError(`the body has ${came} bytes`);
  });
}

function answer(question: ClientQuestion): Promise<Took> {
  if ("rate" in question) return rate(question.rate.inFlight, question.rate.seconds);
  if ("burst" in question) return burst(question.burst.requests, question.burst.setup);
  return transfer(question.transfer.direction, question.transfer.bytes);
}

for await (const line of createInterface({ input: process.stdin })) {
  const said: Took | Failure = await answer(JSON.parse(line) as ClientQuestion).catch((error) => {
    const { cause } = error as Error;
    return { failure: `${error}${cause ? `: ${cause}` : ""}`.split("\n")[0] };
  });
  console.log(JSON.stringify(said));
}
process.exit();
