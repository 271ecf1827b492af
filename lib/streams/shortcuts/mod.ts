/**
 * All shortcuts of the streams. Each ends in the standard's own operation, and none of them can be observed by a
 * program, except by the microtasks of pipes, which the standard leaves open, and those of iterators, in which engines
 * differ. The web platform tests (`tests/wpt`), the differential runner (`tests/streams/differential_test.ts`) and the
 * programs in 50 asynchronous contexts (`tests/streams/contexts/contexts_test.ts`) check all of them. The table names
 * for each shortcut the test that fails first if it is wrong.
 *
 * | shortcut | where | may be taken | must not change | held by |
 * | --- | --- | --- | --- | --- |
 * | no promise for what is none | `language/promises.ts` `settle` | an algorithm returned neither an object nor a function | the microtask of the reaction | `tests/streams/differential_test.ts` |
 * | promises, and errors of release, made on demand | `language/promises.ts` `LazyPromise` | neither `closed` nor `ready` was read | identity, order and handled rejections | `tests/streams/unhandled_rejection_test.ts` |
 * | sizes that are all 1 | `queuing/chunk_queue.ts` `ChunkQueue` | no chunk has had another size | `desiredSize` | `tests/streams/chunk_queue_test.ts` |
 * | a size function that is not called | `queuing/chunk_queue.ts` `extractSizeAlgorithm` | it is CountQueuingStrategy's own | calls of a user's size function | `tests/streams/differential_test.ts` |
 * | a read that is served at once | `readable/default_reader.ts` `servedRead` | a chunk is buffered | the order of answers | `tests/streams/differential_test.ts` |
 * | an iteration by one promise a step | `readable/async_iterator.ts` `Iteration` | always | the order of answers, and the time of the end | `tests/streams/async_iterator_test.ts` |
 * | a last pull without an end | `readable/controller_state.ts` `reactToPull` | the stream is closing, closed or errored, and no promise was returned | the order of microtasks of others | `tests/streams/differential_test.ts` |
 * | many chunks of a queue in one step | `readable/batch_reader.ts` `moveBuffered` | the reads are internal | the order of chunks and pulls, and the limits of a batch | `tests/batch/read_batches_test.ts` |
 * | a request that stays | `readable/batch_reader.ts` `chunkSteps` | the controller is none of bytes | when the source is pulled | `tests/batch/read_batches_test.ts` |
 * | a pull that ends at once | `readable/controller_state.ts` `endPull` | up to the reader's `mostPullsAtOnce`, and no promise was returned | the order of pulls, and that others get their turn | `tests/streams/high_water_mark_test.ts` |
 * | an iterator without a promise for each item | `readable/from.ts` `SyncIteratorSource` | the item is no thenable | `then` is looked up once, in the same microtask | `tests/streams/differential_test.ts` |
 * | a run pulled from an iterator | `readable/pull_run.ts` `pullRun` | a pipe reads, nothing is buffered, no pull is
 * pending | the items taken ahead of the destination | `tests/batch/iterable_source_test.ts` |
 * | a buffer that is not transferred where that cannot be observed | `readable/byte_controller_state.ts` `takeBackBuffer` | the request's view was not read | that a view in user code is detached | `tests/streams/byte_buffers_test.ts` |
 * | a chunk's memory that is freed once it is copied | `readable/pull_into.ts` `moveTo` | all of it has been copied into views | bytes that are still to be read | `tests/streams/byte_buffers_test.ts` |
 * | a write that passes the queue | `writable/writer_state.ts` `writeAtOnce` | the sink is idle and the size is 1 | `desiredSize` and `ready` in the call | `tests/streams/differential_test.ts` |
 * | a write that settles at once | `writable/controller_state.ts` `processWrite` | the request's `settlesAtOnce`, and no promise was returned | when a later write starts | `tests/streams/aborted_pipe_test.ts` |
 * | a pipe's write past the queue | `writable/pipe_write.ts` `writableStreamPipeWrite` | the sink is idle | the order
 * of the write and an end that comes during it | `tests/streams/aborted_pipe_test.ts` |
 * | batches as chunks of the queue | `writable/batches/batched_writes.ts` `BatchedWrites` | the sink takes batches | `desiredSize`, acknowledgement and order | `tests/batch/model_test.ts` |
 * | whole runs into a batch | `writable/batches/batched_writes.ts` `moveForPipe` | a pipe of chunks of size 1 | order, and the limits of queue and batch | `tests/batch/chunkings_test.ts` |
 * | a transform that waits without a promise | `transform/transform_state.ts` `PENDING` | always | the microtask in
 * which it continues | `tests/streams/differential_test.ts` |
 * | a transform between two pipes | `transform/transform_state.ts` `mostPullsAtOnce` | a pipe or an iterator reads, and a pipe writes | where backpressure starts and ends | `tests/streams/high_water_mark_test.ts` |
 * | many chunks enqueued in one call | `transform/enqueue_all.ts` `enqueueAll` | no reader waits, no size function | that each is enqueued in order | `tests/streams/enqueue_all_test.ts` |
 * | the rest of a chunk, parked | `transform/enqueue_all.ts` `transformRest` | the transformer is this package's, and there is backpressure | that a write ends when its chunk is transformed, or fails with it | `tests/text/pieces_test.ts` |
 * | arrays kept as they came | `shortcuts/chunk_array_queue.ts` `ChunkArrayQueue` | chunks of size 1 come many at once | order and totals | `tests/streams/chunk_array_queue_test.ts` |
 * | arrays of numbers used again | `shortcuts/chunk_array_queue.ts` `releaseNumberArray` | the array holds only numbers and has no other user | a chunk in user code | `tests/files/number_file_writer_isolated_test.ts` |
 * | tasks that share a microtask | `shortcuts/task.ts` `deferTasks` | an internal microtask runs, without user code on the stack | contexts, and that other promises get their turn | `tests/streams/task_test.ts` |
 * | no look at the clock for each task | `shortcuts/task.ts` `isLongTurn` | few tasks have run since the last look | that timers and sockets get their turn | `tests/streams/long_turn_isolated_test.ts` |
 * | entering a context by the cheapest way | `shortcuts/async_context.ts` `runIn` | the runtime has that way | the context that callbacks run in | `tests/streams/contexts/contexts_test.ts` |
 * | a pipe's locks without promises | `pipe/pipe.ts` `PipeReaderState` | always | what others see of a locked stream | `tests/streams/idle_error_test.ts` |
 * | a native side that is made when it is looked for | `native/lazy/lazy_side.ts` `makeNativeSideLazily` | the runtime marks its streams by properties | what the runtime sees of a stream | `tests/streams/native_side_isolated_test.ts` |
 * | locks of native sides that stay | `native/native_locks.ts` `releaseSide` | on Bun, the stream has closed, and a pipe or an iterator had locked it | which bodies the runtime refuses | `tests/streams/edge/edge_test.ts` |
 * | readers and writers whose native side is made then | `native/lazy/lazy_side.ts` `makeLockLazily` | the same | what the runtime sees of a locked stream | `tests/streams/native_side_isolated_test.ts` |
 * | native readers that wait in a stream of this package | `native/lazy/runtime_feeds.ts` `readDirectly` | Deno's steps have their names, and the stream is none of bytes | order, close, error, cancel and release | `tests/streams/native_side_isolated_test.ts` |
 * | a native side without the constructor | `native/lazy/runtime_feeds.ts` `lightSideOf` | a stream of Deno's is like that, by a trial | what the runtime sees of a stream | `tests/streams/native_side_isolated_test.ts` |
 * | chunks that cross in batches | `native/bridge.ts` `ToNativeFeed` | the stream is made by `toNative()` | order, close, error and cancel | `tests/streams/bridge_batch_test.ts` |
 *
 * @module
 */
export { type Context, currentContext, runIn } from "./async_context.ts";
export { atEndOfTurn } from "./end_of_turn.ts";
export { acquireArray, ARRAY_LENGTH, releaseNumberArray } from "./chunk_array_queue.ts";
