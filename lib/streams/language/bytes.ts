// The bytes of views and buffers of any realm, with the little that entries without streams need for them.

import { getterOf } from "#streams/host";

export const isView: typeof ArrayBuffer.isView = ArrayBuffer.isView;

/** `%TypedArray.prototype%`. */
export const typedArray: object = /* @__PURE__ */ Object.getPrototypeOf(Uint8Array.prototype);

/** The name of a typed array's kind, of whatever prototype; undefined for other values. */
export const typedArrayName: (this: unknown) => string | undefined = /* @__PURE__ */ getterOf(
  typedArray,
  Symbol.toStringTag,
);

/** Copies pieces, of `length` bytes together, into one. */
export function joinBytes(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

/**
 * Returns the bytes of a view or buffer of any realm without a copy; undefined for other values. Throws a TypeError if
 * the bytes are detached or cut off.
 */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (isView(value)) {
    if (!(value instanceof Uint8Array && value.length > 0)) requireAttached(value.buffer);
    if (value.byteLength === 0) (value as Uint8Array).at?.(0); // throws if the buffer was shrunk to end before the view
    return bytesOfView(value);
  }
  const name = typeof value === "object" && Object.prototype.toString.call(value);
  if (name !== "[object ArrayBuffer]" && name !== "[object SharedArrayBuffer]") return undefined;
  requireAttached(value as ArrayBufferLike);
  const bytes = new Uint8Array(value as ArrayBufferLike);
  return bytes.buffer === value ? bytes : undefined; // any object can have this name as its tag
}

/** Whether a value is a Uint8Array, of whatever realm. */
export function isUint8Array(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || typedArrayName.call(value) === "Uint8Array";
}

function requireAttached(buffer: ArrayBufferLike): void {
  if (!(buffer as { detached?: boolean }).detached) return;
  throw new TypeError("the buffer of a chunk is detached: its bytes went elsewhere, as by a transfer");
}

/** Returns the bytes of a view without a copy; a Uint8Array, such as a Buffer, is returned as it is. */
export function bytesOfView(view: ArrayBufferView): Uint8Array {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
