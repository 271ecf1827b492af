import type { Callbacks, Iterable, Outcome, Reactions, Strategy } from "./program.ts";
import type { World } from "./world.ts";

type Callback = (...args: unknown[]) => unknown;

interface Sizable {
  readonly desiredSize: number | null;
}

/** Which argument of a callback is the controller, and whether the other is a chunk or a reason. */
const positions: Readonly<Record<string, { readonly controller?: number; readonly incoming?: number }>> = {
  start: { controller: 0 },
  pull: { controller: 0 },
  flush: { controller: 0 },
  write: { incoming: 0, controller: 1 },
  transform: { incoming: 0, controller: 1 },
  cancel: { incoming: 0 },
  abort: { incoming: 0 },
  close: {},
};

/** Returns an underlying source, sink or transformer that records its calls and reacts to them as the program says. */
export function underlyingObject<Name extends string>(
  world: World,
  subject: string,
  callbacks: Callbacks<Name>,
): Record<string, Callback> {
  const object: Record<string, Callback> = {};
  for (const [name, reactions] of Object.entries(callbacks) as [Name, Reactions][]) {
    object[name] = callback(world, subject, name, reactions);
  }
  return object;
}

function callback(world: World, subject: string, name: string, reactions: Reactions): Callback {
  const { controller: at, incoming } = positions[name];
  let calls = 0;
  return (...args) => {
    const controller = at === undefined ? undefined : args[at] as Partial<Sizable>;
    if (controller !== undefined) world.add(`${subject}.controller`, controller);
    const given = incoming === undefined ? "" : ` ${world.log.describe(args[incoming])}`;
    const size = controller !== undefined && "desiredSize" in controller ? ` desired ${controller.desiredSize}` : "";
    const idle = calls === reactions.length;
    world.log.record(subject, `${name}(${args.length})${given}${size}${idle && name === "pull" ? ", idle" : ""}`);
    if (idle) return undefined;
    const { operations, outcome } = reactions[calls++];
    for (const operation of operations) {
      world.perform(world, operation, incoming === undefined ? undefined : args[incoming]);
    }
    const result = world.end(outcome, `${subject} ${name}`);
    return world.classes.returned === undefined ? result : world.classes.returned(name, result);
  };
}

/** Returns a queuing strategy whose size() records its calls. */
export function queuingStrategy(world: World, subject: string, { highWaterMark, size }: Strategy): QueuingStrategy {
  const strategy: QueuingStrategy = {};
  if (highWaterMark !== undefined) strategy.highWaterMark = highWaterMark;
  if (size === undefined) return strategy;
  let calls = 0;
  strategy.size = (chunk): number => {
    world.log.record(`${subject} strategy`, `size(${world.log.describe(chunk)})`);
    const first = calls === 0;
    const result = size.results[calls++ % size.results.length];
    // Once is enough: an operation that enqueues would call size() again without end.
    if (first) { for (const operation of size.operations) world.perform(world, operation); }
    if (typeof result === "number") return result;
    throw world.error(result.throws);
  };
  return strategy;
}

/** Returns an array, or an iterator by hand that records its calls, for `ReadableStream.from`. */
export function iterable(world: World, subject: string, spec: Iterable): unknown {
  const values = Array.from({ length: spec.values }, (_, at) => `${subject}:${at}`);
  if (spec.type === "array") return values;
  const wrap = (result: unknown): unknown => {
    if (spec.type === "sync") return result;
    const delayed = world.end({ kind: "resolve", delay: spec.delay }, subject) as Promise<void>;
    return delayed.then(() => result);
  };
  const end = (outcome: Outcome): unknown => {
    // A sync iterator's promise would not be a promise but a result, and its rejection unhandled.
    const ended = world.end(spec.type === "sync" && outcome.kind !== "throw" ? { kind: "return" } : outcome, subject);
    if (ended === undefined) return wrap({ value: undefined, done: true });
    return ended instanceof Promise ? ended.then(() => ({ done: true })) : ended;
  };
  const iterator: Record<string | symbol, unknown> = {
    next(): unknown {
      world.log.record(subject, "next");
      return values.length > 0 ? wrap({ value: values.shift(), done: false }) : end(spec.end);
    },
  };
  if (spec.return !== undefined) {
    const outcome = spec.return;
    iterator.return = (...args: unknown[]): unknown => {
      world.log.record(subject, `return(${args.map((arg) => world.log.describe(arg)).join(", ")})`);
      return end(outcome);
    };
  }
  return { [spec.type === "sync" ? Symbol.iterator : Symbol.asyncIterator]: () => iterator };
}
