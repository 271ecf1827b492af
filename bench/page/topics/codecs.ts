import type { Row } from "../results.ts";
import { say, span } from "../say.ts";
import { barRows, plotOf, ratio, type Topic } from "../topic.ts";

const OURS = / ours$/;
const isPeer = ({ name }: Row): boolean => name.endsWith("-wasm");
/** Returns the name of this package's row for the format and level of a peer's. */
const likeOurs = ({ name }: Row): string => name.replace(/ \S+-wasm$/, " ours");
const label = ({ name }: Row): string => name.replace(OURS, "").replace("gzip 12", "gzip 12 against 9");
/** Whether a row compares equal work: zlib has no level above 9, so level 12 shows the price of the last bytes. */
const isLikeForLike = ({ name }: Row): boolean => OURS.test(name) && !name.startsWith("gzip 12");

/** The codecs, one file after the other on one thread. */
export const codecs: Topic = {
  title: "Codecs",
  scenarios: ["codecs"],
  what:
    "Real files from npm packages, one thread, one file after the other: our WASM codecs divided by the runtime's own " +
    "`node:zlib`, and by brotli-wasm and zstd-wasm. Native zstd is told each file's size. All outputs are decompressed and " +
    "compared, ours by the native decoder too. Of bytes, a bar to the right means that ours are fewer.",
  plots(results) {
    const rows = (column: string, isWanted: (row: Row) => boolean, change = (number: number) => number) =>
      barRows(results, {
        topic: "codecs",
        caption: "",
        label,
        value: (row) => {
          const number = isWanted(row) ? row.number(column) : undefined;
          return number === undefined ? undefined : change(number);
        },
      });
    const peers = (column: string) =>
      barRows(results, {
        topic: "codecs",
        caption: "",
        label: ({ name }) => name.replace(/ (\S+)$/, ", $1"),
        value: (row) => isPeer(row) ? ratio(row.other(likeOurs(row), column), row.number(column)) : undefined,
      });
    return [
      ...plotOf(
        results,
        {
          name: "codecs_speed",
          title: "Codecs: speed on one thread",
          unit: "Speed of ours divided by that of the runtime's own, or of the peer, on a logarithmic axis",
          topic: "codecs",
        },
        [
          { heading: "Compress, against native", rows: rows("speed", isLikeForLike) },
          { heading: "Decompress, against native", rows: rows("decode speed", isLikeForLike) },
          { heading: "Compress, against other WASM", rows: peers("speed") },
        ],
      ),
      ...plotOf(
        results,
        {
          name: "codecs_bytes",
          title: "Codecs: bytes",
          unit: "How many per cent smaller than the runtime's own ours are, all files together",
          topic: "codecs",
          scale: "linear",
          line: 0,
          isOurs: false,
        },
        [{ rows: rows("to native", (row) => OURS.test(row.name), (percent) => -percent || 0) }],
      ),
    ];
  },
  notes(results) {
    const speed = span(results.numbers("codecs", "", "gzip 12 ours", (row) => row.number("speed")));
    const bytes = results.numbers("codecs", "", "gzip 12 ours", (row) => row.number("to native"));
    const fewer = span(bytes.map((percent) => -percent));
    return [
      "Brotli gives the same bytes as Google's C, and gzip at the same level gives fewer than zlib.",
      say`Gzip 12, the default of precompress, has no like in \`node:zlib\`: against its level 9 it has ${speed} of the speed,
        for ${fewer}% fewer bytes.`,
    ];
  },
};
