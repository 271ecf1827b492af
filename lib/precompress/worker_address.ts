import { ownAddress } from "../runtime/mod.ts";

const place = /worker_address(\.\w+)$/;

/** Returns the worker's address; the build replaces this. Throws in a bundle, whose address would start the program again. */
export function workerAddress(): URL {
  const address = ownAddress(() => import.meta.url);
  if (!address || !place.test(address.pathname)) throw new Error("it is not in the bundle");
  address.pathname = address.pathname.replace(place, "worker$1");
  return address;
}
