import { setTimeout } from "node:timers";
import { releaseIdleInstances } from "../codecs/internal.ts";

/** The time in ms after which codecs that nothing uses are let go, at the earliest. */
const PATIENCE = 15_000;

let timer: ReturnType<typeof setTimeout> | undefined;

/** Has the memory of idle codecs given back after a while. */
export function releaseIdleCodecs(): void {
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    if (releaseIdleInstances()) releaseIdleCodecs();
  }, PATIENCE);
  timer.unref();
}
