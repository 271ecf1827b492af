/** Returns the address of the worker's module. The build puts a module with the place of its own in this one's place. */
export function compressWorkerAddress(): URL {
  return new URL(import.meta.url.replace(/compress_worker_address(\.\w+)([?#].*)?$/, "compress_worker$1"));
}
