import { queuingStrategy, underlyingObject } from "./callbacks.ts";
import type { Handlers } from "./readable_operations.ts";

type Writer = WritableStreamDefaultWriter<unknown>;

export const writableOperations: Handlers = {
  writable(world, { name, sink, strategy }) {
    const stream = new world.classes.WritableStream(
      world.given(name, underlyingObject(world, name, sink)),
      world.given(name, queuingStrategy(world, name, strategy)),
    );
    world.add(name, stream);
  },
  transform(world, { name, transformer, writableStrategy, readableStrategy }) {
    const stream = new world.classes.TransformStream(
      world.given(name, underlyingObject(world, name, transformer)),
      world.given(`${name}.writable`, queuingStrategy(world, `${name}.writable`, writableStrategy)),
      world.given(`${name}.readable`, queuingStrategy(world, `${name}.readable`, readableStrategy)),
    );
    world.add(name, stream);
    world.add(`${name}.readable`, stream.readable);
    world.add(`${name}.writable`, stream.writable);
  },
  writer(world, { name, of }) {
    world.add(name, world.find<WritableStream>(of)!.getWriter());
  },
  write(world, { on, chunk }, incoming) {
    const promise = world.find<Writer>(on)!.write(world.chunk(chunk, on, incoming));
    world.log.watch(on, `write ${world.count(`${on} writes`)}`, promise);
  },
  closeWriter(world, { on }) {
    world.log.watch(on, "close", world.find<Writer>(on)!.close());
  },
  closeWritable(world, { on }) {
    world.log.watch(on, "close", world.find<WritableStream>(on)!.close());
  },
  abortWriter(world, { on, error }) {
    world.log.watch(on, "abort", world.find<Writer>(on)!.abort(world.error(error)));
  },
  abort(world, { on, error }) {
    world.log.watch(on, "abort", world.find<WritableStream>(on)!.abort(world.error(error)));
  },
  ready(world, { on }) {
    world.watchGetter(on, "ready", world.find<Writer>(on)!.ready);
  },
  writerClosed(world, { on }) {
    world.watchGetter(on, "closed", world.find<Writer>(on)!.closed);
  },
  writerDesiredSize(world, { on }) {
    world.log.record(on, `desired ${world.find<Writer>(on)!.desiredSize}`);
  },
  releaseWriter(world, { on }) {
    world.find<Writer>(on)!.releaseLock();
  },
  watchSignal(world, { on }) {
    const { signal } = world.find<WritableStreamDefaultController>(`${on}.controller`)!;
    world.log.record(on, `signal aborted ${signal.aborted}`);
    signal.addEventListener("abort", () => {
      world.log.record(on, `signal aborted for ${world.log.describe(signal.reason)}`);
    });
  },
};
