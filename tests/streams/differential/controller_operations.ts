import type { Handlers } from "./readable_operations.ts";
import type { World } from "./world.ts";

type AnyController =
  & ReadableByteStreamController
  & ReadableStreamDefaultController<unknown>
  & TransformStreamDefaultController<unknown>;

function controllerOf(world: World, name: string): AnyController {
  return world.find<AnyController>(`${name}.controller`)!;
}

/** Fills the request's view with fresh bytes, as a source would. */
function fill(world: World, on: string, view: ArrayBufferView, bytes: number): void {
  const length = Math.min(bytes, view.byteLength);
  if (length > 0) new Uint8Array(view.buffer, view.byteOffset, length).fill(world.count(on));
}

export const controllerOperations: Handlers = {
  enqueue(world, { on, chunk, times = 1 }, incoming) {
    for (let left = times; left > 0; left--) {
      const value = world.chunk(chunk, on, incoming);
      controllerOf(world, on).enqueue(value as ArrayBufferView<ArrayBuffer>);
      if (ArrayBuffer.isView(value)) world.log.record(on, `has ${world.log.describe(value)} left`);
    }
  },
  close(world, { on }) {
    controllerOf(world, on).close();
  },
  terminate(world, { on }) {
    controllerOf(world, on).terminate();
  },
  error(world, { on, error }) {
    controllerOf(world, on).error(world.error(error));
  },
  desiredSize(world, { on }) {
    world.log.record(on, `desired ${controllerOf(world, on).desiredSize}`);
  },
  byobRequest(world, { on }) {
    const request = controllerOf(world, on).byobRequest;
    if (request === null) return world.log.record(on, "byobRequest null");
    world.objects.set(`${on}.request`, request);
    world.log.record(on, `byobRequest ${world.log.describe(request)} for ${world.log.describe(request.view)}`);
  },
  respond(world, { on, bytes, stale }) {
    const request = stale
      ? world.find<ReadableStreamBYOBRequest>(`${on}.request`)
      : controllerOf(world, on).byobRequest;
    if (!request) return world.log.record(on, "no request");
    world.objects.set(`${on}.request`, request);
    if (request.view) fill(world, on, request.view, bytes);
    request.respond(bytes);
  },
  respondWithNewView(world, { on, view, bytes }) {
    const request = controllerOf(world, on).byobRequest;
    if (!request) return world.log.record(on, "no request");
    const given = request.view!;
    fill(world, on, given, bytes);
    const buffer = given.buffer as ArrayBuffer;
    const length = Math.min(bytes, given.byteLength);
    const views = {
      same: () => given as ArrayBufferView<ArrayBuffer>,
      shorter: () => new Uint8Array(buffer, given.byteOffset, length),
      transferred: () => new Uint8Array(structuredClone(buffer, { transfer: [buffer] }), given.byteOffset, length),
      foreign: () => new Uint8Array(bytes),
      shifted: () => new Uint8Array(buffer, Math.min(given.byteOffset + 1, buffer.byteLength)),
    };
    request.respondWithNewView(views[view]());
  },
};
