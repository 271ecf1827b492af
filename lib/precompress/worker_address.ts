const place = /worker_address(\.\w+)([?#].*)?$/;

/**
 * Returns the address of the worker's module. The build puts a module with the place of its own in this one's place.
 *
 * @throws {Error} if this module is part of a bundle, whose own address would start the program once more.
 */
export function workerAddress(): URL {
  if (!place.test(import.meta.url)) throw new Error("it is not in the bundle");
  return new URL(import.meta.url.replace(place, "worker$1"));
}
