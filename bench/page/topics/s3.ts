import { count, say, span } from "../say.ts";
import { barRows, plotOf, ratio, type Topic } from "../topic.ts";

const COLUMNS = [["Time", "s"], ["CPU time", "CPU s"], ["Peak memory", "peak MiB"]] as const;

/** Uploads of unknown length into an object store. */
export const s3: Topic = {
  title: "Object storage",
  scenarios: ["s3"],
  what:
    "200 uploads at a time of 15 MB and of unknown length into three nodes of Garage on the same machine, each client in a " +
    "process of its own with a store of its own. The store takes most of the time and of both cores, so times swing by up to " +
    "a half between rounds of one client; CPU time is that of the client alone. A bar to the right means that ours takes less.",
  plots(results) {
    return plotOf(
      results,
      {
        name: "s3",
        title: "Uploads into a store: ours against other clients",
        unit: "What the other client takes divided by ours, on a logarithmic axis",
        topic: "s3",
        sides: ["ours takes more", "ours takes less"],
      },
      COLUMNS.map(([heading, column]) => ({
        heading,
        rows: barRows(results, {
          topic: "s3",
          caption: "",
          value: (row) => row.name === "ours" ? undefined : ratio(row.number(column), row.other("ours", column)),
        }),
      })),
    );
  },
  notes(results) {
    const peaks = results.numbers("s3", "", "ours", (row) => row.number("peak MiB"));
    return [say`Ours has ${span(peaks, count)} MiB at its peak, with the runtime and the sources of all uploads.`];
  },
};
