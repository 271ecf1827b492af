import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ManualSink, type SinkCall } from "./manual_sink.ts";
import { microtasks, Outcomes, turn } from "./progress.ts";

/** A stream at some point of its life, with the numbers written to it and the outcomes of their promises. */
export interface Scene {
  readonly sink: ManualSink;
  readonly writer: WritableStreamDefaultWriter<number>;
  /** The outcomes of the writes by number, and of "close" if it was called. */
  readonly outcomes: Outcomes;
}

/** A point at which something can go wrong, and which writes are then at which stage. */
export interface Point {
  readonly name: string;
  readonly acknowledged: readonly string[];
  readonly inFlight: readonly string[];
  readonly waiting: readonly string[];
  /** The sink's current call. */
  readonly busy: SinkCall | undefined;
  readonly isClosing: boolean;
  /** The sink's calls so far. */
  readonly log: readonly string[];
  readonly reach: () => Promise<Scene>;
}

async function open(...holds: readonly SinkCall[]): Promise<Scene> {
  const sink = new ManualSink({ holds });
  const stream = new BatchedWritableStream<number>(sink, { highWaterMark: 100 });
  const scene = { sink, writer: stream.getWriter(), outcomes: new Outcomes() };
  if (!holds.includes("start")) await microtasks();
  return scene;
}

/** Returns a scene with one batch in flight. */
async function openInFlight(...holds: readonly SinkCall[]): Promise<Scene> {
  const scene = await open("writev", ...holds);
  scene.outcomes.write(scene.writer, 1, 3);
  await turn();
  return scene;
}

/** Returns a scene with one batch written, and another one in flight. */
async function openInSecondBatch(...holds: readonly SinkCall[]): Promise<Scene> {
  const scene = await openInFlight(...holds);
  scene.sink.succeed();
  await turn();
  scene.outcomes.write(scene.writer, 4, 5);
  await turn();
  return scene;
}

const nothing = { acknowledged: [], inFlight: [], waiting: [], busy: undefined, isClosing: false, log: ["start"] };
const oneBatch = ["start", "writev 1,2,3"];
const twoBatches = ["start", "writev 1,2,3", "writev 4,5"];

/** The points from the start of a stream to its close. */
export const points: readonly Point[] = [
  {
    ...nothing,
    name: "while start() is under way",
    busy: "start",
    reach: () => open("start", "writev"),
  },
  {
    ...nothing,
    name: "while start() is under way and chunks wait for it",
    busy: "start",
    waiting: ["1", "2"],
    async reach(): Promise<Scene> {
      const scene = await open("start", "writev");
      scene.outcomes.write(scene.writer, 1, 2);
      await turn();
      return scene;
    },
  },
  {
    ...nothing,
    name: "before anything is written",
    reach: () => open("writev"),
  },
  {
    ...nothing,
    name: "while chunks wait for the end of the turn",
    waiting: ["1", "2", "3"],
    async reach(): Promise<Scene> {
      const scene = await open("writev");
      scene.outcomes.write(scene.writer, 1, 3);
      return scene;
    },
  },
  {
    ...nothing,
    name: "while a batch is in flight",
    busy: "writev",
    inFlight: ["1", "2", "3"],
    log: oneBatch,
    reach: () => openInFlight(),
  },
  {
    ...nothing,
    name: "while a batch is in flight and chunks wait behind it",
    busy: "writev",
    inFlight: ["1", "2", "3"],
    waiting: ["4", "5"],
    log: oneBatch,
    async reach(): Promise<Scene> {
      const scene = await openInFlight();
      scene.outcomes.write(scene.writer, 4, 5);
      await turn();
      return scene;
    },
  },
  {
    ...nothing,
    name: "between two batches, while chunks wait for the end of the turn",
    acknowledged: ["1", "2", "3"],
    waiting: ["4", "5"],
    log: oneBatch,
    async reach(): Promise<Scene> {
      const scene = await openInFlight();
      scene.outcomes.write(scene.writer, 4, 5);
      scene.sink.succeed();
      await microtasks();
      return scene;
    },
  },
  {
    ...nothing,
    name: "after a batch, while nothing waits",
    acknowledged: ["1", "2", "3"],
    log: oneBatch,
    async reach(): Promise<Scene> {
      const scene = await openInFlight();
      scene.sink.succeed();
      await turn();
      return scene;
    },
  },
  {
    ...nothing,
    name: "while the second batch is in flight and chunks wait behind it",
    busy: "writev",
    acknowledged: ["1", "2", "3"],
    inFlight: ["4", "5"],
    waiting: ["6", "7"],
    log: twoBatches,
    async reach(): Promise<Scene> {
      const scene = await openInSecondBatch();
      scene.outcomes.write(scene.writer, 6, 7);
      return scene;
    },
  },
  {
    ...nothing,
    name: "while start() is under way, and a close waits behind chunks",
    busy: "start",
    waiting: ["1", "2"],
    isClosing: true,
    async reach(): Promise<Scene> {
      const scene = await open("start", "writev");
      scene.outcomes.write(scene.writer, 1, 2);
      scene.outcomes.watch("close", scene.writer.close());
      return scene;
    },
  },
  {
    ...nothing,
    name: "while a batch is in flight, and a close waits behind it",
    busy: "writev",
    acknowledged: ["1", "2", "3"],
    inFlight: ["4", "5"],
    isClosing: true,
    log: twoBatches,
    async reach(): Promise<Scene> {
      const scene = await openInSecondBatch();
      scene.outcomes.watch("close", scene.writer.close());
      await turn();
      return scene;
    },
  },
  {
    ...nothing,
    name: "while a batch is in flight, and a close waits behind chunks",
    busy: "writev",
    acknowledged: ["1", "2", "3"],
    inFlight: ["4", "5"],
    waiting: ["6", "7"],
    isClosing: true,
    log: twoBatches,
    async reach(): Promise<Scene> {
      const scene = await openInSecondBatch();
      scene.outcomes.write(scene.writer, 6, 7);
      scene.outcomes.watch("close", scene.writer.close());
      await turn();
      return scene;
    },
  },
  {
    ...nothing,
    name: "while close() is under way",
    busy: "close",
    acknowledged: ["1", "2", "3"],
    isClosing: true,
    log: [...oneBatch, "close"],
    async reach(): Promise<Scene> {
      const scene = await openInFlight("close");
      scene.outcomes.watch("close", scene.writer.close());
      scene.sink.succeed();
      await turn();
      return scene;
    },
  },
];
