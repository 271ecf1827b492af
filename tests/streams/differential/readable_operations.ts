import { iterable, queuingStrategy, underlyingObject } from "./callbacks.ts";
import type { Operation, OperationKind } from "./program.ts";
import type { World } from "./world.ts";

/** The functions that perform each kind of operation. May throw: the interpreter records it. */
export type Handlers = {
  [Kind in OperationKind]?: (world: World, operation: Operation & { readonly kind: Kind }, incoming?: unknown) => void;
};

type AnyReader = ReadableStreamDefaultReader<unknown> & ReadableStreamBYOBReader;

type Iterator = AsyncIterator<unknown, unknown, unknown>;

export const readableOperations: Handlers = {
  readable(world, { name, source, strategy }) {
    const stream = new world.classes.ReadableStream(
      world.given(name, underlyingObject(world, name, source)),
      world.given(name, queuingStrategy(world, name, strategy)),
    );
    world.add(name, stream);
  },
  bytes(world, { name, source, strategy, autoAllocateChunkSize }) {
    const underlying: UnderlyingByteSource = { ...underlyingObject(world, name, source), type: "bytes" };
    if (autoAllocateChunkSize !== undefined) underlying.autoAllocateChunkSize = autoAllocateChunkSize;
    world.add(
      name,
      new world.classes.ReadableStream(
        world.given(name, underlying),
        world.given(name, queuingStrategy(world, name, strategy)),
      ),
    );
  },
  from(world, operation) {
    const source = iterable(world, operation.name, operation.iterable) as AsyncIterable<unknown>;
    const ReadableStream = world.classes.ReadableStream as unknown as {
      from(source: AsyncIterable<unknown>): ReadableStream<unknown>;
    };
    world.add(operation.name, ReadableStream.from(source));
  },
  reader(world, { name, of }) {
    world.add(name, world.find<ReadableStream>(of)!.getReader());
  },
  byobReader(world, { name, of }) {
    world.add(name, world.find<ReadableStream>(of)!.getReader(world.given(name, { mode: "byob" })));
  },
  read(world, { on }) {
    const reader = world.find<AnyReader>(on)!;
    world.log.watch(on, `read ${world.count(`${on} reads`)}`, (reader.read as () => unknown).call(reader));
  },
  readInto(world, { on, view, min }) {
    const reader = world.find<AnyReader>(on)!;
    const into = world.view(view, on);
    // The reference refuses an empty view before it reads the options, which Web IDL has the other way round.
    const plain = min === undefined ? undefined : { min };
    const options = plain === undefined || into.byteLength === 0 ? plain : world.given(on, plain);
    const promise = (reader.read as (view: unknown, options: unknown) => unknown).call(reader, into, options);
    world.log.record(on, `has ${world.log.describe(into)} left`);
    world.log.watch(on, `read ${world.count(`${on} reads`)}`, promise);
  },
  releaseReader(world, { on }) {
    world.find<AnyReader>(on)!.releaseLock();
  },
  readerClosed(world, { on }) {
    world.watchGetter(on, "closed", world.find<AnyReader>(on)!.closed);
  },
  cancelReader(world, { on, error }) {
    world.log.watch(on, "cancel", world.find<AnyReader>(on)!.cancel(world.error(error)));
  },
  cancel(world, { on, error }) {
    world.log.watch(on, "cancel", world.find<ReadableStream>(on)!.cancel(world.error(error)));
  },
  tee(world, { name, of }) {
    const branches = world.find<ReadableStream>(of)!.tee();
    branches.forEach((branch, index) => world.add(`${name}.${index}`, branch));
  },
  iterator(world, { name, of, preventCancel }) {
    const stream = world.find<ReadableStream>(of)! as unknown as {
      values(options: { preventCancel: boolean }): Iterator;
    };
    world.add(name, stream.values(world.given(name, { preventCancel })));
  },
  next(world, { on }) {
    world.log.watch(on, `next ${world.count(`${on} nexts`)}`, world.find<Iterator>(on)!.next());
  },
  return(world, { on, error }) {
    world.log.watch(on, "return", world.find<Iterator>(on)!.return!(world.error(error)));
  },
};
