const place = /compress_worker_address(\.\w+)([?#].*)?$/;

/**
 * Returns the address of the worker's module. The build replaces this module by one with the built worker's address.
 *
 * @throws {Error} if this module is in a bundle, whose address would start the whole program again.
 */
export function compressWorkerAddress(): URL {
  if (!place.test(import.meta.url)) throw new Error("it is not in the bundle");
  return new URL(import.meta.url.replace(place, "compress_worker$1"));
}
