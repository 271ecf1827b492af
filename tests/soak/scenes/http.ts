import { droppedResponses, manyAborts, manyRequests, soak } from "../../http/soak/soak.ts";
import type { Scene } from "../scene.ts";

const collects = typeof (globalThis as { Bun?: unknown; gc?: unknown }).Bun !== "undefined" || "gc" in globalThis;

export const http: Scene = {
  name: "http",
  what:
    "a client by turns of HTTP/2 and HTTP/1.1: 1,000 requests, 200 aborted ones, and responses that are dropped unread",
  open: () => ({
    round: (index) =>
      soak(index % 2 === 0 ? "h2" : "http/1.1", async (scene) => {
        await manyRequests(scene, 1000, "");
        await manyAborts(scene, 200, "");
        if (collects && index % 8 === 0) await droppedResponses(scene, 50);
      }),
    close: () => Promise.resolve(),
  }),
};
