/**
 * Gets the web platform tests of streams, unless they are here, and prints their folder: `node tests/wpt/get.ts`.
 *
 * @module
 */
import { getSuite } from "./suite.ts";

console.log(await getSuite());
