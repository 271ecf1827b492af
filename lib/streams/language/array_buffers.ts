// The standard's operations on ArrayBuffers and views, by captured getters, which an object's own properties cannot fake.

import { getterOf } from "#streams/host";
import { isView, typedArray, typedArrayName } from "./bytes.ts";
import { badValue, mustBe } from "./errors.ts";

const [typedArrayBuffer, typedArrayByteOffset, typedArrayByteLength] = slotGettersOf(typedArray);
const [dataViewBuffer, dataViewByteOffset, dataViewByteLength] = slotGettersOf(DataView.prototype);
const bufferByteLength = getterOf(ArrayBuffer.prototype, "byteLength");
const bufferDetached = getterOf(ArrayBuffer.prototype, "detached");
const bufferResizable = getterOf(ArrayBuffer.prototype, "resizable");
const { transfer, slice } = ArrayBuffer.prototype;
const { set } = Uint8Array.prototype;

function slotGettersOf(prototype: object): ReturnType<typeof getterOf>[] {
  return ["buffer", "byteOffset", "byteLength"].map((name) => getterOf(prototype, name));
}

/** The requirement on views that bytes are read into or taken from. */
export const NOT_EMPTY = "neither empty nor detached";

export class ViewSlots {
  buffer: ArrayBuffer;
  byteOffset: number;
  byteLength: number;
  /** The name of a typed array's kind (Uint8Array for a Buffer); undefined for a DataView. */
  readonly typeName: string | undefined;
  constructor(buffer: ArrayBuffer, byteOffset: number, byteLength: number, typeName: string | undefined) {
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.byteLength = byteLength;
    this.typeName = typeName;
  }

  toBytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer, this.byteOffset, this.byteLength);
  }
}

/** Returns the internal slots of a view. A DataView's getters throw when its buffer is detached; the slots are 0 then. */
export function viewSlots(view: ArrayBufferView): ViewSlots {
  const typeName: string | undefined = typedArrayName.call(view);
  return slotsOver(bufferOf(view, typeName), view, typeName);
}

function bufferOf(view: ArrayBufferView, typeName: string | undefined): ArrayBuffer {
  return typeName === undefined ? dataViewBuffer.call(view) : typedArrayBuffer.call(view);
}

function slotsOver(buffer: ArrayBuffer, view: ArrayBufferView, typeName: string | undefined): ViewSlots {
  if (typeName !== undefined) {
    return new ViewSlots(buffer, typedArrayByteOffset.call(view), typedArrayByteLength.call(view), typeName);
  }
  if (isDetachedBuffer(buffer)) return new ViewSlots(buffer, 0, 0, typeName);
  return new ViewSlots(buffer, dataViewByteOffset.call(view), dataViewByteLength.call(view), typeName);
}

/** The constructor of a kind of view, and the size of an element in bytes. */
export interface ViewKind {
  readonly constructor: new (buffer: ArrayBuffer, byteOffset: number, length: number) => ArrayBufferView;
  readonly elementSize: number;
}

export const UINT8: ViewKind = { constructor: Uint8Array, elementSize: 1 };

export function viewKind(typeName: string | undefined): ViewKind {
  if (typeName === "Uint8Array") return UINT8;
  const constructor = (globalThis as never)[typeName ?? "DataView"] as ViewKind["constructor"] & {
    readonly BYTES_PER_ELEMENT?: number;
  };
  return { constructor, elementSize: constructor.BYTES_PER_ELEMENT ?? 1 };
}

/** Returns the slots of a view; throws a TypeError for other values, and for views of shared or resizable buffers. */
export function toArrayBufferView(value: unknown, name: string): ViewSlots {
  if (!isView(value)) throw mustBe(name, "an ArrayBufferView");
  const typeName: string | undefined = typedArrayName.call(value);
  const buffer = bufferOf(value, typeName);
  if (isResizableOrShared(buffer)) {
    throw badValue(`${name} must be backed by an ArrayBuffer that is neither shared nor resizable`);
  }
  return slotsOver(buffer, value, typeName);
}

function isResizableOrShared(buffer: ArrayBuffer): boolean {
  try {
    return bufferResizable.call(buffer);
  } catch {
    return true; // it is a SharedArrayBuffer
  }
}

export function isDetachedBuffer(buffer: ArrayBuffer): boolean {
  return bufferDetached.call(buffer);
}

export function byteLengthOf(buffer: ArrayBuffer): number {
  return bufferByteLength.call(buffer);
}

export function lengthOf(bytes: Uint8Array): number {
  return typedArrayByteLength.call(bytes);
}

/**
 * The standard's TransferArrayBuffer. @throws {TypeError} if the buffer cannot be detached, such as that of a
 * WebAssembly.Memory.
 */
export function transferArrayBuffer(buffer: ArrayBuffer): ArrayBuffer {
  return transfer.call(buffer);
}

/** Frees the memory of a buffer without another user. */
export function freeArrayBuffer(buffer: ArrayBuffer): void {
  transfer.call(buffer, 0);
}

/** The standard's CopyDataBlockBytes. */
export function copyDataBlockBytes(
  to: ArrayBuffer,
  toIndex: number,
  from: ArrayBuffer,
  fromIndex: number,
  count: number,
): void {
  set.call(new Uint8Array(to), new Uint8Array(from, fromIndex, count), toIndex);
}

/** The standard's CloneArrayBuffer with the intrinsic constructor. */
export function cloneArrayBuffer(buffer: ArrayBuffer, byteOffset: number, byteLength: number): ArrayBuffer {
  const clone = new ArrayBuffer(byteLength);
  copyDataBlockBytes(clone, 0, buffer, byteOffset, byteLength);
  return clone;
}

/** The standard's CloneAsUint8Array. */
export function cloneAsUint8Array(view: ArrayBufferView): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = viewSlots(view);
  return new Uint8Array(slice.call(buffer, byteOffset, byteOffset + byteLength));
}
