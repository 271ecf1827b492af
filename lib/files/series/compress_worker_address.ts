import { ownAddress } from "../../runtime/mod.ts";

const place = /compress_worker_address(\.\w+)$/;

/**
 * Returns the address of the worker's module. The build replaces this module by one with the built worker's address.
 *
 * @throws {Error} if this module is in a bundle, whose address would start the whole program again.
 */
export function compressWorkerAddress(): URL {
  const address = ownAddress(() => import.meta.url);
  if (!address || !place.test(address.pathname)) throw new Error("it is not in the bundle");
  address.pathname = address.pathname.replace(place, "compress_worker$1");
  return address;
}
