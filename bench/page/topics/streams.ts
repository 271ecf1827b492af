import type { Row } from "../results.ts";
import { say, span } from "../say.ts";
import { barRows, plotOf, ratio, type Topic } from "../topic.ts";

const PIPES = /^pipe|^tee|^SSE|through/i;
const BYTES = /^byte|^BYOB/;
const NEW = /^new /;
const SHORT = /^Response|^tokens/;
const AGAINST_PEER =
  /^read loop|^write loop|^pipeTo, sync|^pipeThrough x3$|^tee, both|^for await|^byte stream, pull, read$|^new R/;

const label = ({ name }: Row): string => name.replace(" (streams)", "");

/** The speed of this package's web streams, native ones and fast-webstreams. */
export const streams: Topic = {
  title: "Web streams",
  scenarios: ["streams"],
  what:
    "Chunks of 1 KiB a millisecond: ours divided by the runtime's own streams, and by fast-webstreams, the fastest peer. " +
    "Each implementation runs each row in a process of its own, and they take turns; each counts with its fastest round. " +
    "In `results/` web-streams-polyfill is beside them.",
  plots(results) {
    const rows = (matches: (name: string) => boolean) =>
      barRows(results, {
        topic: "streams",
        caption: "",
        label,
        value: (row) => matches(row.name) && row.name !== "geometric mean" ? row.number("to native") : undefined,
      });
    const isOther = (name: string): boolean => ![PIPES, BYTES, NEW, SHORT].some((group) => group.test(name));
    const peers = barRows(results, {
      topic: "streams",
      caption: "",
      label,
      value: (row) =>
        AGAINST_PEER.test(row.name) ? ratio(row.number("ours"), row.number("fast-webstreams")) : undefined,
    });
    const unit = "Speed of ours divided by that of the runtime's own streams, on a logarithmic axis";
    return [
      ...plotOf(
        results,
        { name: "streams_pipes", title: "Pipes: ours against native streams", unit, topic: "streams" },
        [
          { rows: rows((name) => PIPES.test(name)) },
        ],
      ),
      ...plotOf(results, {
        name: "streams_reads",
        title: "Reads and writes: ours against native streams",
        unit,
        topic: "streams",
      }, [
        { heading: "Chunk by chunk", rows: rows(isOther) },
        { heading: "Short streams", rows: rows((name) => SHORT.test(name) && !PIPES.test(name)) },
        { heading: "Byte streams", rows: rows((name) => BYTES.test(name)) },
        { heading: "Making a stream", rows: rows((name) => NEW.test(name)) },
      ]),
      ...plotOf(
        results,
        {
          name: "streams_peer",
          title: "Ours against fast-webstreams",
          unit: "Speed of ours divided by that of fast-webstreams, on a logarithmic axis",
          topic: "streams",
        },
        [{ heading: "Against fast-webstreams", rows: peers }],
      ),
    ];
  },
  notes(results) {
    const mean = (column: string) =>
      span(results.numbers("streams", "", "geometric mean", (row) => row.number(column)));
    const peer = results.numbers("streams", "", "read loop", (row) => {
      return ratio(row.number("fast-webstreams"), row.number("ours"));
    });
    return [
      say`Over all rows ours has ${mean("to native")} times the speed of native streams, and ${
        mean("to best")
      } times that of whichever peer is best in each row (geometric means).`,
      "What costs: each stream of ours is one of the runtime's own too, and Bun's byte streams hand buffers over in C++, " +
      "which no JavaScript can do as fast.",
      say`A stream that is read by its reader keeps to the standard's microtasks, where the fastest peer (fast-webstreams,
        ${span(peer)} times our \`read()\`) does not.`,
    ];
  },
};
