// The counterpart of `lazy_side.ts` for browsers, where only a constructor can make the internal slots of a stream: each
// native side and lock is made with its stream. `.ci/page_sources.ts` leaves out the calls of all other functions.

export { NativeReadableSource as EagerFeed } from "../feeds/readable_feed.ts";
export { NativeWritableSink as EagerSink } from "../feeds/writable_feed.ts";
