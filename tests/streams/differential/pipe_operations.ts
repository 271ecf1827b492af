import type { PipeOptions } from "./program.ts";
import type { Handlers } from "./readable_operations.ts";
import type { World } from "./world.ts";

function pipeOptions(world: World, subject: string, { signal, ...flags }: PipeOptions): StreamPipeOptions {
  const controller = signal === undefined ? undefined : world.find<AbortController>(signal);
  return world.given(subject, controller === undefined ? flags : { ...flags, signal: controller.signal });
}

export const pipeOperations: Handlers = {
  signal(world, { name }) {
    world.add(name, new AbortController());
  },
  abortSignal(world, { on, error }) {
    world.find<AbortController>(on)!.abort(world.error(error));
  },
  pipeTo(world, { from, to, options }) {
    const source = world.find<ReadableStream>(from)!;
    const destination = world.find<WritableStream>(to)!;
    const given = pipeOptions(world, `${from} to ${to}`, options);
    const { pipeTo } = world.classes;
    const promise = pipeTo ? pipeTo(source, destination, given) : source.pipeTo(destination, given);
    world.log.watch(`${from} to ${to}`, "pipe", promise);
  },
  pipeThrough(world, { from, through, options }) {
    const source = world.find<ReadableStream>(from)!;
    const transform = world.find<TransformStream>(through)!;
    const given = pipeOptions(world, `${from} through ${through}`, options);
    const { pipeThrough } = world.classes;
    const result = pipeThrough ? pipeThrough(source, transform, given) : source.pipeThrough(transform, given);
    world.log.record(`${from} through ${through}`, `pipeThrough returned ${world.log.describe(result)}`);
  },
};
