/**
 * What the standard does with ArrayBuffers and views, through captured getters, so that own properties of a view
 * cannot lie about it.
 *
 * @module
 */

type ViewConstructor = new (buffer: ArrayBuffer, byteOffset: number, length: number) => ArrayBufferView;

// deno-lint-ignore ban-types -- getters are called as they are
function getter(prototype: object, name: PropertyKey): Function {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const typedArrayName = getter(typedArray, Symbol.toStringTag);
const typedArrayBuffer = getter(typedArray, "buffer");
const typedArrayByteLength = getter(typedArray, "byteLength");
const typedArrayByteOffset = getter(typedArray, "byteOffset");
const dataViewBuffer = getter(DataView.prototype, "buffer");
const dataViewByteLength = getter(DataView.prototype, "byteLength");
const dataViewByteOffset = getter(DataView.prototype, "byteOffset");
const bufferByteLength = getter(ArrayBuffer.prototype, "byteLength");
const bufferDetached = getter(ArrayBuffer.prototype, "detached");
const bufferResizable = getter(ArrayBuffer.prototype, "resizable");
const { transfer, slice } = ArrayBuffer.prototype;
const { isView } = ArrayBuffer;
const { set } = Uint8Array.prototype;

const viewConstructors = new Map<string | undefined, ViewConstructor & { BYTES_PER_ELEMENT?: number }>(
  [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    ...("Float16Array" in globalThis ? [(globalThis as never)["Float16Array"] as ViewConstructor] : []),
  ].map((constructor) => [constructor.name, constructor as ViewConstructor]),
);
viewConstructors.set(undefined, DataView as ViewConstructor); // the getter of the name knows no DataView

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

/** The slots of a view as they really are. */
export function viewSlots(view: ArrayBufferView): ViewSlots {
  return typedArrayName.call(view) === undefined
    ? new ViewSlots(dataViewBuffer.call(view), dataViewOffset(view), dataViewLength(view))
    : new ViewSlots(typedArrayBuffer.call(view), typedArrayByteOffset.call(view), typedArrayByteLength.call(view));
}

// A DataView's getters throw when its buffer is detached; the standard's slots are 0 then.
function dataViewOffset(view: ArrayBufferView): number {
  return isDetachedBuffer(dataViewBuffer.call(view)) ? 0 : dataViewByteOffset.call(view);
}
function dataViewLength(view: ArrayBufferView): number {
  return isDetachedBuffer(dataViewBuffer.call(view)) ? 0 : dataViewByteLength.call(view);
}

/** The constructor of a view's own kind (a Buffer's is Uint8Array) and the bytes of an element. */
export function viewKind(view: ArrayBufferView): { constructor: ViewConstructor; elementSize: number } {
  const constructor = viewConstructors.get(typedArrayName.call(view))!;
  return { constructor, elementSize: constructor.BYTES_PER_ELEMENT ?? 1 };
}

/**
 * Converts an argument to an ArrayBufferView, and takes its slots.
 *
 * @throws {TypeError} if it is none, or over a SharedArrayBuffer or a resizable ArrayBuffer.
 */
export function toArrayBufferView(value: unknown, name: string): ViewSlots {
  if (!isView(value)) throw new TypeError(`${name} must be an ArrayBufferView`);
  const slots = viewSlots(value);
  let resizable: boolean;
  try {
    resizable = bufferResizable.call(slots.buffer);
  } catch {
    throw new TypeError(`${name} must not be backed by a SharedArrayBuffer`);
  }
  if (resizable) throw new TypeError(`${name} must not be backed by a resizable ArrayBuffer`);
  return slots;
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
