const place = /worker_address(\.\w+)([?#].*)?$/;

/** Returns the worker's address; the build replaces this. Throws in a bundle, whose address would start the program again. */
export function workerAddress(): URL {
  if (!place.test(import.meta.url)) throw new Error("it is not in the bundle");
  return new URL(import.meta.url.replace(place, "worker$1"));
}
