/**
 * Bridges to `node:stream`, `node:http`, `node:http2` and `node:net` that move data in batches.
 *
 * @example A server that sends back what it gets
 * ```ts
 * import { fromNodeReadable, fromNodeWritable } from "@millrace/streams/node";
 * import { createServer } from "node:http";
 *
 * const echo = createServer((request, response) => {
 *   fromNodeReadable(request).pipeTo(fromNodeWritable(response)).catch(() => {}); // the visitor has left
 * });
 * echo.listen(0, () => echo.close());
 * ```
 *
 * @module
 */
export { fromNodeReadable } from "./from_node_readable.ts";
export { fromNodeWritable, type FromNodeWritableOptions } from "./from_node_writable.ts";
