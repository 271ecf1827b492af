import { type TransformStreamDefaultController, transformStreamStateOf } from "./default_controller.ts";

/** Whether the readable end of a transform stream has all that it wants for now. */
export function hasBackpressure(controller: TransformStreamDefaultController<never>): boolean {
  return transformStreamStateOf(controller).backpressure;
}

/**
 * Has a transformer of ours called with the rest of its chunk when the readable end wants more: `transform()` must return
 * what this returns. There must be backpressure.
 *
 * The rest is parked as a chunk is that comes while there is backpressure, and the write that is under way ends with it;
 * so does whatever aborts, cancels or errors the stream.
 */
export function transformRest(controller: TransformStreamDefaultController<never>, rest: unknown): Promise<never> {
  transformStreamStateOf(controller).write(rest);
  return new Promise(() => {}); // of its own: reactions to a shared one would stay for ever
}
