import type { OriginOptions } from "./origin_options.ts";

/** The origin of a contest, and the clients that send to it. */
export interface Scenario {
  readonly title: string;
  readonly origin: OriginOptions;
  /** Ours, and peers that can do it. */
  readonly names: readonly string[];
}

/** A rate at a fixed number of concurrent requests. */
export interface RateScenario extends Scenario {
  readonly inFlight: number;
}

/** Many requests at once, by a new client, of an origin that it does not know. */
export interface BurstScenario extends Scenario {
  readonly requests: number;
  /** The most that the client may make; default: its own default. */
  readonly connections?: number;
}

/** A transfer of one large body. */
export interface TransferScenario extends Scenario {
  readonly direction: "down" | "up";
  readonly bytes: number;
}

/** Bytes of the body of an answer where bodies do not matter. */
export const BODY = 1024;
const TRANSFER = 200_000_000;
/** The limit that most servers set: nginx has 128, Go and Caddy 250. */
const STREAMS = 250;
/** Milliseconds that a handler takes. */
export const HANDLER = 300;

const h2: OriginOptions = { protocols: ["h2", "http/1.1"], secure: true, streams: STREAMS, delay: 0, bytes: BODY };
const h2c: OriginOptions = { ...h2, protocols: ["h2"], secure: false };
const h1s: OriginOptions = { ...h2, protocols: ["http/1.1"] };
const h1: OriginOptions = { ...h1s, secure: false };

const undici = ["undici request", "undici fetch"];
const h2Names = ["ours", "node:http2", ...undici, "own fetch"];
const h1Names = ["ours", "node:http", ...undici, "own fetch"];

/** Requests a second. */
export const rates: readonly RateScenario[] = [
  { title: "throughput, h2 over TLS", origin: h2, names: h2Names, inFlight: 100 },
  { title: "throughput, h2c", origin: h2c, names: h2Names.slice(0, -1), inFlight: 100 },
  { title: "throughput, h1 over TLS", origin: h1s, names: h1Names, inFlight: 100 },
  { title: "throughput, h1", origin: h1, names: h1Names, inFlight: 100 },
];

const slow = { ...h2, delay: HANDLER };
const few = { ...slow, streams: 10 };
const alone = ["ours", "node:http2", "undici request"];

/** Cold bursts. */
export const bursts: readonly BurstScenario[] = [
  { title: "burst of 100, h2 over TLS", origin: slow, names: h2Names, requests: 100 },
  {
    title: `burst of 400, one connection, ${STREAMS} streams`,
    origin: slow,
    names: alone,
    requests: 400,
    connections: 1,
  },
  {
    title: "burst of 100, 10 streams a connection",
    origin: few,
    names: ["ours", ...undici, "own fetch"],
    requests: 100,
  },
  { title: "burst of 100, one connection, 10 streams", origin: few, names: alone, requests: 100, connections: 1 },
  { title: "burst of 20, h1 over TLS", origin: { ...h1s, delay: HANDLER }, names: h1Names, requests: 20 },
];

/** The scenarios of large bodies. */
export const transfers: readonly TransferScenario[] = [
  {
    title: "200 MB down, h2 over TLS",
    origin: { ...h2, bytes: TRANSFER },
    names: h2Names,
    direction: "down",
    bytes: TRANSFER,
  },
  { title: "200 MB up, h2 over TLS", origin: h2, names: h2Names, direction: "up", bytes: TRANSFER },
  {
    title: "200 MB down, h1 over TLS",
    origin: { ...h1s, bytes: TRANSFER },
    names: h1Names,
    direction: "down",
    bytes: TRANSFER,
  },
  { title: "200 MB up, h1 over TLS", origin: h1s, names: h1Names, direction: "up", bytes: TRANSFER },
];
