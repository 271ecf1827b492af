/**
 * Gets the web platform tests of streams and compression, unless they are here, and prints the folder of those of streams: `node tests/wpt/get.ts`.
 *
 * @module
 */
import { getCompression, getSuite } from "./suite.ts";

console.log(await getSuite());
await getCompression();
