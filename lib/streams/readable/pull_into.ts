import { byteLengthOf, viewKind, type ViewSlots } from "../language/array_buffers.ts";

/**
 * A buffer that the source is to fill, and for whom.
 *
 * @see {@link https://streams.spec.whatwg.org/#pull-into-descriptor}
 */
export class PullIntoDescriptor {
  buffer: ArrayBuffer;
  readonly bufferByteLength: number;
  readonly byteOffset: number;
  readonly byteLength: number;
  bytesFilled = 0;
  readonly minimumFill: number;
  readonly elementSize: number;
  readonly viewConstructor: new (buffer: ArrayBuffer, byteOffset: number, length: number) => ArrayBufferView;
  readerType: "default" | "byob" | "none";

  private constructor(
    buffer: ArrayBuffer,
    byteOffset: number,
    byteLength: number,
    min: number,
    kind: ReturnType<typeof viewKind>,
    readerType: "default" | "byob",
  ) {
    this.buffer = buffer;
    this.bufferByteLength = byteLengthOf(buffer);
    this.byteOffset = byteOffset;
    this.byteLength = byteLength;
    this.minimumFill = min * kind.elementSize;
    this.elementSize = kind.elementSize;
    this.viewConstructor = kind.constructor;
    this.readerType = readerType;
  }

  /** Returns a descriptor for a BYOB read. */
  static forView(view: ArrayBufferView, slots: ViewSlots, buffer: ArrayBuffer, min: number): PullIntoDescriptor {
    return new PullIntoDescriptor(buffer, slots.byteOffset, slots.byteLength, min, viewKind(view), "byob");
  }

  /** Returns a descriptor for a read by a default reader, where the stream allocates buffers itself. */
  static allocated(size: number): PullIntoDescriptor {
    return new PullIntoDescriptor(new ArrayBuffer(size), 0, size, 1, UINT8, "default");
  }

  /**
   * Returns the filled bytes as a view of the kind given. The standard transfers the buffer here once more; but
   * it comes from a transfer, and since then nobody has seen it.
   *
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-convert-pull-into-descriptor}
   */
  toView(): ArrayBufferView {
    return new this.viewConstructor(this.buffer, this.byteOffset, this.bytesFilled / this.elementSize);
  }
}

const UINT8 = viewKind(new Uint8Array(0));
