/** Returns the bytes of a view, without a copy; a Uint8Array, also a Buffer, as it is. */
export function bytesOfView(view: ArrayBufferView): Uint8Array {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
