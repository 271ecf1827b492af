import type { Classes } from "./implementation.ts";
import { times } from "./piping.ts";
import type { Scenario } from "./scenario.ts";

/** The scenarios that create and drop streams, readers and writers. */
export const creating: readonly Scenario[] = [
  creation("new ReadableStream", ({ ReadableStream }) => new ReadableStream({ pull() {} })),
  creation("new ReadableStream of bytes", ({ ReadableStream }) => new ReadableStream({ type: "bytes", pull() {} })),
  creation("new ReadableStream, getReader", ({ ReadableStream }) => new ReadableStream({ pull() {} }).getReader()),
  creation("new WritableStream", ({ WritableStream }) => new WritableStream({ write() {} })),
  creation("new WritableStream, getWriter", ({ WritableStream }) => new WritableStream({ write() {} }).getWriter()),
  creation("new TransformStream", ({ TransformStream }) => new TransformStream({ transform() {} })),
];

/** Returns a scenario of constructions; after each 100, microtasks run, which `start()` leaves behind. */
function creation(title: string, construct: (classes: Classes) => object): Scenario {
  return {
    title,
    counted: "streams",
    unit: 100,
    run: (classes, amount) =>
      times(amount, () => {
        let made = 0;
        for (let i = 0; i < 100; i++) if (construct(classes)) made++;
        return Promise.resolve(made);
      }),
  };
}
