import type { BarRow } from "../bars.ts";
import type { Results } from "../results.ts";
import { say, span } from "../say.ts";
import { barRows, plotOf, ratio, type Topic } from "../topic.ts";

const SPEEDS = [
  ["HTTP/2 over TLS", "throughput, h2 over TLS"],
  ["HTTP/2 in the clear", "throughput, h2c"],
  ["HTTP/1.1 over TLS", "throughput, h1 over TLS"],
  ["HTTP/1.1 in the clear", "throughput, h1;"],
] as const;
const BODIES = [
  ["200 MB down, HTTP/2 over TLS", "200 MB down, h2 over TLS"],
  ["200 MB up, HTTP/2 over TLS", "200 MB up, h2 over TLS"],
  ["200 MB down, HTTP/1.1 over TLS", "200 MB down, h1 over TLS"],
  ["200 MB up, HTTP/1.1 over TLS", "200 MB up, h1 over TLS"],
] as const;

function cpuRows(results: Results, caption: string, column: string): BarRow[] {
  return barRows(results, {
    topic: "http",
    caption,
    value: (row) => row.name === "ours" ? undefined : ratio(row.number(column), row.other("ours", column)),
  });
}

function speedRows(results: Results, caption: string): BarRow[] {
  return barRows(results, {
    topic: "http",
    caption,
    value: (row) => row.name === "ours" ? undefined : ratio(row.other("ours", "req/s"), row.number("req/s")),
  });
}

/** The HTTP client beside the modules of the runtime, undici, and the runtime's own fetch. */
export const http: Topic = {
  title: "HTTP client",
  scenarios: ["http"],
  what:
    "`HttpClient.fetch()` beside `node:http2` and `node:http` as they are, undici's `request` and `fetch`, and the runtime's own " +
    "`fetch` (HTTP/1.1 on Node and Bun): 100 requests under way, bodies of 1 KB read as text; then bodies of 200 MB. The origin, one " +
    "process on Node, shares the machine with the client: CPU time, of the client alone, is the figure with the least noise.",
  plots(results) {
    return [
      ...plotOf(
        results,
        {
          name: "http_requests",
          title: "HTTP client: requests a second",
          unit: "Requests a second of ours divided by those of the peer, on a logarithmic axis",
          topic: "http",
        },
        SPEEDS.map(([heading, caption]) => ({ heading, rows: speedRows(results, caption) })),
      ),
      ...plotOf(
        results,
        {
          name: "http_cpu",
          title: "HTTP client: CPU",
          unit: "CPU time of the peer divided by that of ours, on a logarithmic axis",
          topic: "http",
          sides: ["ours takes more", "ours takes less"],
        },
        [
          { heading: "A request, HTTP/2 over TLS", rows: cpuRows(results, SPEEDS[0][1], "CPU a request") },
          ...BODIES.map(([heading, caption]) => ({ heading, rows: cpuRows(results, caption, "CPU s a GB") })),
        ],
      ),
    ];
  },
  notes(results) {
    const cpu = results.numbers("http", SPEEDS[0][1], "ours", (row) => row.number("CPU a request"));
    const burst = results.numbers("http", "burst of 100, h2 over TLS", "ours", (row) => row.number("all / one"));
    const full = "burst of 400, one connection, 250 streams";
    const rounds = (name: string) => span(results.numbers("http", full, name, (row) => row.number("rounds")));
    return [
      say`A request over HTTP/2 and TLS takes ours ${span(cpu)} µs of CPU. A cold burst of 100 takes ${
        span(burst)
      } of the time of one request, on one socket; 400 on one connection whose server allows 250 streams take ${
        rounds("ours")
      } rounds (undici, which keeps to 100, ${rounds("undici request")}).`,
      "A body of 1 GB that is read at 10 MB/s takes no more memory at its end than after a tenth of it.",
      "Large downloads cost Node and, over HTTP/1.1, Bun more CPU than their own modules: each byte is copied once more, into " +
      "memory that is the reader's.",
    ];
  },
};
