import { withByteStreams } from "./byte_streams.browser.ts";
import { ReadableStream as Class } from "./readable_stream.ts";

/** The class as pages import it. Streams such as LineStream use the class alone, so that they bring no byte streams. */
export const ReadableStream: typeof Class = /* @__PURE__ */ withByteStreams(Class);
