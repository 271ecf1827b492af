/** A process that uploads to each URL by a client of its own, says `done`, and closes none. */
import { HttpClient } from "../../../lib/http/mod.ts";

await Promise.all(
  process.argv.slice(2).map(async (url) => {
    const blob = new Blob([new Uint8Array(400_000)]);
    const body = url.endsWith("stream") ? blob.stream() : await blob.bytes();
    const response = await new HttpClient({ h2c: url.includes("h2c") }).fetch(url, { method: "PUT", body });
    if (url.includes("whole")) await response.text();
  }),
);
console.log("done");
