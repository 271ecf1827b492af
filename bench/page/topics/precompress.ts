import type { Row } from "../results.ts";
import { count, say, span } from "../say.ts";
import { barRows, plotOf, ratio, type Topic } from "../topic.ts";

const isOurs = ({ name }: Row): boolean => name.startsWith("ours");
const isFirst = (row: Row): boolean => row.name.startsWith("ours, first run");

/** A whole folder, with the defaults. */
export const precompress: Topic = {
  title: "Precompress",
  scenarios: ["precompress", "precompress_memory"],
  what:
    "A whole folder with the defaults, against the usual way: all files at once through the asynchronous `node:zlib` at its " +
    "highest levels. Whole processes, start to end; then again with nothing changed, and with one file changed, which the " +
    "usual way does all over.",
  plots(results) {
    const rows = (column: string, isWanted: (row: Row) => boolean) =>
      barRows(results, {
        topic: "precompress",
        caption: "",
        label: ({ name }) => name.replace(/^ours, /, "").replace(/ \(.*\)$/, ""),
        value: (row) => isWanted(row) ? ratio(row.table[0].number(column), row.number(column)) : undefined,
      });
    return plotOf(
      results,
      {
        name: "precompress",
        title: "Precompress: a whole folder",
        unit: "node:zlib's time, peak memory and bytes divided by ours, on a logarithmic axis",
        topic: "precompress",
        sides: ["ours takes more", "ours takes less"],
      },
      [
        { heading: "Time", rows: rows("wall time", isOurs) },
        { heading: "Peak memory", rows: rows("peak memory", isFirst) },
        { heading: "Bytes of all variants", rows: rows("bytes of variants", isFirst) },
      ],
    );
  },
  notes(results) {
    const peak = (name: string) =>
      span(results.numbers("precompress, memory", "", name, (row) => row.number("peak memory")), count);
    return [
      say`Ten times the files do not take ten times the memory: ${
        peak("500 files, 30 MiB")
      } MiB for 500 files of 30 MiB together,
        ${peak("5,000 files, 300 MiB")} MiB for 5,000 of 300 MiB, ${peak("1 file, 200 MiB")} MiB for one of 200 MiB.`,
    ];
  },
};
