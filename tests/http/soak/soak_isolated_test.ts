/**
 * Short by default. MILLRACE_SOAK=1 makes it long: 1 GB each way at 10 MB/s, a million requests, 100,000 aborts, and prints what the
 * process holds meanwhile. One soak is chosen by its name (`--test-name-pattern`, `-t`, `--filter`). Deno needs
 * `--v8-flags=--expose-gc` for the figures of the heap.
 */
import process from "node:process";
import test from "node:test";
import { download, droppedResponses, manyAborts, manyRequests, soak, upload } from "./soak.ts";

const isLong = process.env.MILLRACE_SOAK === "1";
const size = isLong ? 1_000_000_000 : 16_000_000;
const rate = isLong ? 10_000_000 : 60_000_000;
const requests = isLong ? 1_000_000 : 2000;
const aborts = isLong ? 100_000 : 600;

for (const protocol of ["h2", "http/1.1"] as const) {
  test(`a large body that is read slowly is not received faster (${protocol})`, () =>
    soak(protocol, (scene) => download(scene, size, rate, protocol)));

  test(`a large body that is sent slowly arrives whole (${protocol})`, () =>
    soak(protocol, (scene) => upload(scene, size, rate, protocol)));

  test(`many requests leave nothing behind (${protocol})`, () =>
    soak(protocol, (scene) => manyRequests(scene, requests, protocol)));

  test(`many aborted requests leave nothing behind (${protocol})`, () =>
    soak(protocol, (scene) => manyAborts(scene, aborts, protocol)));

  test(
    `responses that are dropped unread are given up (${protocol})`,
    { skip: !isLong && (protocol !== "h2" || "deno" in process.versions) && "takes seconds, and on Deno a flag" },
    () => soak(protocol, (scene) => droppedResponses(scene, 200)),
  );
}
