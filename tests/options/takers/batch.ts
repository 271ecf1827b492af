import { broadcastOptions } from "../../../lib/batch/broadcast.ts";
import { coalesceBytesOptions } from "../../../lib/batch/coalesce_bytes.ts";
import { BatchedWritableStream, broadcast, coalesceBytes, readBatches } from "../../../lib/batch/mod.ts";
import { readBatchesOptions } from "../../../lib/batch/read_batches.ts";
import { ReadableStream } from "../../../lib/streams/mod.ts";
import { retryOptions } from "../../../lib/streams/writable/batches/batched_sink.ts";
import type { Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  {
    schema: broadcastOptions,
    options: "BroadcastOptions",
    take: (options) => broadcast(new ReadableStream(), options),
  },
  { schema: coalesceBytesOptions, options: "CoalesceBytesOptions", take: (options) => coalesceBytes(options) },
  {
    schema: readBatchesOptions,
    options: "ReadBatchesOptions",
    take: (options) => readBatches(new ReadableStream(), options),
  },
  {
    schema: retryOptions,
    options: "RetryOptions",
    take: (options) => new BatchedWritableStream({ retry: options as never, writev() {} }),
  },
];
