import { type Library, runChecks } from "./check.ts";
import { type Group, groups } from "./groups.ts";

/** Runs the groups that the page names, in this worker. */
export function startWorker(library: Library): void {
  self.addEventListener("message", async ({ data }: MessageEvent<Group>) => {
    self.postMessage(await runChecks(groups[data], library));
  });
  self.postMessage("ready"); // earlier messages are lost, since modules of workers load late
}
