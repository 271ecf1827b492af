/** Returns the address of the worker's module. The build puts a module with the place of its own in this one's place. */
export function workerAddress(): URL {
  return new URL(import.meta.url.replace(/worker_address(\.\w+)([?#].*)?$/, "worker$1"));
}
