import type { BarGroup } from "../bars.ts";
import type { Results } from "../results.ts";
import { say, span } from "../say.ts";
import { barRows, plotOf, type Topic } from "../topic.ts";

const SCENARIOS = [
  ["5 bundles of 50 KB", "5 bundles of 50 KB"],
  ["5 bundles, 15 header fields", "5 bundles of 50 KB, 15 request fields"],
  ["1,000 files of 2 to 30 KB", "1,000 files of 2 to 30 KB"],
  ["304 for 5 bundles", "304 for 5 bundles"],
] as const;
const ALL = "10,000 files, 30,000 variants, manifest";

function share(results: Results, scenario: string, isWanted: (name: string) => boolean): BarGroup["rows"] {
  return barRows(results, {
    topic: "static",
    caption: scenario,
    value: (row) => isWanted(row.name) && row.table[0].name.startsWith("bare") ? row.number("of bare") : undefined,
  });
}

/** Returns the first answer of a server that has 10,000 files, in seconds. */
function firstAnswer(results: Results, runtime: string, name: string): string | undefined {
  const milliseconds = results.row("static, start-up", runtime, ALL, name)?.number("first answer");
  return milliseconds === undefined ? undefined : `${(milliseconds / 1000).toFixed(2)} s`;
}

/** The static handler beside a bare server and its peers. */
export const staticFiles: Topic = {
  title: "Static handler",
  scenarios: ["static", "static_startup"],
  what:
    "Requests a second, divided by those of a bare server, which answers every path with the same bytes and three header " +
    "fields, whatever is asked; ours sends ten, and picks the best of zstd, br and gzip. Requests have few fields, or 15 as a browser's do. All files are precompressed. So 1 is not a " +
    "peer but about what the runtime's own server can do. The second plot has all who were measured; rows that begin with " +
    "`ours` are ours, by its entry for the runtime's server, or by its `fetch()` behind srvx or Hono on Node; static routes " +
    "are Bun's own, which answer with one fixed body. Server and visitors share the machine.",
  plots(results) {
    const unit = "Requests a second divided by those of a bare server";
    const sides = ["slower than bare", "faster"] as const;
    const common = { unit, sides, topic: "static", scale: "linear" as const };
    const ours = SCENARIOS.flatMap(([label, scenario]) => {
      return share(results, scenario, (name) => name === "ours").map(({ bars }) => ({ label, bars }));
    });
    const peers = [SCENARIOS[1], SCENARIOS[2]].map(([heading, scenario]) => {
      return { heading, rows: share(results, scenario, (name) => name !== "bare") };
    });
    return [
      ...plotOf(results, { name: "static", title: "Static handler: ours against a bare server", ...common }, [{
        rows: ours,
      }]),
      ...plotOf(results, {
        name: "static_peers",
        title: "Static files: everybody against a bare server",
        ...common,
        isOurs: false,
      }, peers),
    ];
  },
  notes(results) {
    const [, [, fields]] = SCENARIOS;
    const negotiating = results.row("static", "Bun", fields, "bare, negotiating")?.number("of bare");
    const first = (runtime: string, name: string) => firstAnswer(results, runtime, name);
    const vinext = results.rows("static, start-up", "Node", ALL).find(({ name }) => name.startsWith("vinext"))?.name ??
      "";
    const many = results.numbers("static", SCENARIOS[2][1], "ours", (row) => row.number("of bare"));
    const cache = results.row("static", "Node", SCENARIOS[2][1], vinext)?.number("of bare");
    return [
      say`On Bun, looking at a browser's header fields at all costs a bare server ${
        negotiating === undefined ? undefined : 1 - negotiating
      } of its speed.`,
      say`With 1,000 files ours has ${span(many)} of a bare server's speed, and vinext's cache, on Node, ${cache}.`,
      say`With 10,000 files, their 30,000 variants and a manifest, the first answer comes after ${
        first("Node", "ours, 64 MiB")
      } on Node (sirv ${first("Node", "sirv")}, vinext ${first("Node", vinext)}), ${
        first("Bun", "ours, 64 MiB")
      } on Bun and ${first("Deno", "ours, 64 MiB")} on Deno.`,
    ];
  },
};
