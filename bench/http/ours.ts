import { HttpClient } from "../../lib/http/mod.ts";
import { fetchWay } from "./fetch_way.ts";
import type { Ways } from "./ways.ts";

/** This package's client, with default options except for the address and the protocol. */
export const ours: Ways = {
  ours({ url, ca, isHttp2, connections }) {
    const isClear = url.startsWith("http:");
    const client = new HttpClient({ tls: { ca }, http2: isHttp2, h2c: isHttp2 && isClear, connections });
    return fetchWay((init) => client.fetch(url, init), () => client.destroy());
  },
};
