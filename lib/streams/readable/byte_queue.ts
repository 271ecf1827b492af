import { copyDataBlockBytes, freeArrayBuffer, type ViewSlots } from "../language/array_buffers.ts";
import { Ring } from "../queuing/ring.ts";
import type { PullIntoDescriptor } from "./pull_into.ts";

/**
 * The bytes that wait to be read: slots of views over buffers that nobody else has. The views are made as they are read:
 * Bun takes 1.7 times as long for each where as many wait as views.
 *
 * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-queue-entry}
 */
export class ByteQueue extends Ring<ViewSlots> {
  totalSize = 0;

  /** Adds bytes, of which there must be one. */
  enqueue(chunk: ViewSlots): void {
    this.push(chunk);
    this.totalSize += chunk.byteLength;
  }

  /** Takes the first entry. */
  dequeue(): Uint8Array<ArrayBuffer> {
    const chunk = this.shift();
    this.totalSize -= chunk.byteLength;
    return chunk.toBytes();
  }

  /** Moves bytes of the first entry into a descriptor, `most` of them at most; returns how many. */
  moveTo(descriptor: PullIntoDescriptor, most: number): number {
    const head = this.peek();
    const count = Math.min(most, head.byteLength);
    const start = descriptor.byteOffset + descriptor.bytesFilled;
    copyDataBlockBytes(descriptor.buffer, start, head.buffer, head.byteOffset, count);
    head.byteOffset += count;
    head.byteLength -= count;
    if (head.byteLength === 0) {
      this.shift();
      // At once, not by the garbage collector: V8's frees in another thread, which took as long as all the rest
      // (Node, 1 KiB: 900 ns from allocation to copy, now 490).
      freeArrayBuffer(head.buffer);
    }
    this.totalSize -= count;
    descriptor.bytesFilled += count;
    return count;
  }

  /** ResetQueue. */
  reset(): void {
    this.clear();
    this.totalSize = 0;
  }
}
