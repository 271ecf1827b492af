/**
 * The standard's operations on ArrayBuffers and views, through captured getters, so that own properties of a view
 * cannot lie about it.
 *
 * @module
 */

import { badValue, mustBe } from "./errors.ts";
import { getterOf } from "#streams/getter_of";

type ViewConstructor = (new (buffer: ArrayBuffer, byteOffset: number, length: number) => ArrayBufferView) & {
  readonly BYTES_PER_ELEMENT?: number;
};

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const typedArrayName = getterOf(typedArray, Symbol.toStringTag);
const [typedArrayBuffer, typedArrayByteOffset, typedArrayByteLength] = slotGettersOf(typedArray);
const [dataViewBuffer, dataViewByteOffset, dataViewByteLength] = slotGettersOf(DataView.prototype);
const bufferByteLength = getterOf(ArrayBuffer.prototype, "byteLength");
const bufferDetached = getterOf(ArrayBuffer.prototype, "detached");
const bufferResizable = getterOf(ArrayBuffer.prototype, "resizable");
const { transfer, slice } = ArrayBuffer.prototype;
const { isView } = ArrayBuffer;
const { set } = Uint8Array.prototype;

function slotGettersOf(prototype: object): ReturnType<typeof getterOf>[] {
  return ["buffer", "byteOffset", "byteLength"].map((name) => getterOf(prototype, name));
}

/** The requirement on a view that bytes are read into or come from. */
export const NOT_EMPTY = "neither empty nor detached";

/** The slots of a view. */
export class ViewSlots {
  buffer: ArrayBuffer;
  byteOffset: number;
  byteLength: number;
  constructor(buffer: ArrayBuffer, byteOffset: number, byteLength: number) {
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.byteLength = byteLength;
  }
}

/** The slots of a view as they really are. A DataView's getters throw when its buffer is detached; its slots are 0 then. */
export function viewSlots(view: ArrayBufferView): ViewSlots {
  if (typedArrayName.call(view) !== undefined) {
    return new ViewSlots(typedArrayBuffer.call(view), typedArrayByteOffset.call(view), typedArrayByteLength.call(view));
  }
  const buffer = dataViewBuffer.call(view);
  if (isDetachedBuffer(buffer)) return new ViewSlots(buffer, 0, 0);
  return new ViewSlots(buffer, dataViewByteOffset.call(view), dataViewByteLength.call(view));
}

/** The constructor of a view's own kind (a Buffer's is Uint8Array) and the bytes of an element. */
export function viewKind(view: ArrayBufferView): { constructor: ViewConstructor; elementSize: number } {
  // The getter of the name knows no DataView.
  const constructor = (globalThis as never)[typedArrayName.call(view) ?? "DataView"] as ViewConstructor;
  return { constructor, elementSize: constructor.BYTES_PER_ELEMENT ?? 1 };
}

/**
 * Converts an argument to an ArrayBufferView, and takes its slots.
 *
 * @throws {TypeError} if it is none, or over a SharedArrayBuffer or a resizable ArrayBuffer.
 */
export function toArrayBufferView(value: unknown, name: string): ViewSlots {
  if (!isView(value)) throw mustBe(name, "an ArrayBufferView");
  const buffer = typedArrayName.call(value) === undefined ? dataViewBuffer.call(value) : typedArrayBuffer.call(value);
  if (isResizableOrShared(buffer)) {
    throw badValue(`${name} must be backed by an ArrayBuffer that is neither shared nor resizable`);
  }
  return viewSlots(value);
}

function isResizableOrShared(buffer: ArrayBuffer): boolean {
  try {
    return bufferResizable.call(buffer);
  } catch {
    return true; // it is no ArrayBuffer
  }
}

export function isDetachedBuffer(buffer: ArrayBuffer): boolean {
  return bufferDetached.call(buffer);
}

export function byteLengthOf(buffer: ArrayBuffer): number {
  return bufferByteLength.call(buffer);
}

/**
 * TransferArrayBuffer.
 *
 * @throws {TypeError} if the buffer cannot be detached, as that of a WebAssembly.Memory.
 */
export function transferArrayBuffer(buffer: ArrayBuffer): ArrayBuffer {
  return transfer.call(buffer);
}

/** CopyDataBlockBytes. */
export function copyDataBlockBytes(
  to: ArrayBuffer,
  toIndex: number,
  from: ArrayBuffer,
  fromIndex: number,
  count: number,
): void {
  set.call(new Uint8Array(to), new Uint8Array(from, fromIndex, count), toIndex);
}

/** CloneArrayBuffer with the intrinsic constructor. */
export function cloneArrayBuffer(buffer: ArrayBuffer, byteOffset: number, byteLength: number): ArrayBuffer {
  const clone = new ArrayBuffer(byteLength);
  copyDataBlockBytes(clone, 0, buffer, byteOffset, byteLength);
  return clone;
}

/** CloneAsUint8Array. */
export function cloneAsUint8Array(view: ArrayBufferView): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = viewSlots(view);
  return new Uint8Array(slice.call(buffer, byteOffset, byteOffset + byteLength));
}

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
