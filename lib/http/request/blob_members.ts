import { HttpError } from "../http_error.ts";

const typeGetter = getterOf("type");
const sizeGetter = getterOf("size");

/** A Blob's type as the runtime knows it, whatever its class says; empty if it cannot stand in a header. */
export function typeOfBlob(blob: Blob): string {
  const type = String(read(blob, typeGetter));
  return /^[ -~]*$/.test(type) ? type : "";
}

/**
 * A Blob's size as the runtime knows it, whatever its class says, in bytes.
 *
 * @throws {HttpError} INVALID_BODY if it has none.
 */
export function sizeOfBlob(blob: Blob): number {
  const size = read(blob, sizeGetter);
  if (Number.isSafeInteger(size) && size as number >= 0) return size as number;
  throw new HttpError("INVALID_BODY", `The body cannot be a Blob of unknown size (${size}): send its stream()`);
}

function read(blob: Blob, getter: (this: Blob) => unknown): unknown {
  try {
    return getter.call(blob);
  } catch (cause) {
    const message = "The body cannot be something that only looks like a Blob: use one of the runtime's, or a stream";
    throw new HttpError("INVALID_BODY", message, { cause });
  }
}

function getterOf(name: "type" | "size"): (this: Blob) => unknown {
  return Object.getOwnPropertyDescriptor(Blob.prototype, name)!.get!;
}
