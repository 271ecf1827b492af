/**
 * A process with clients that are never closed, each by a proxy: it must end by itself, soon. Arguments: the URL of an origin, and
 * those of proxies. It prints the statuses that it got.
 */
import process from "node:process";
import { HttpClient } from "../../../lib/http/mod.ts";
import { trusting } from "./by_proxy.ts";

const [url, ...proxies] = process.argv.slice(2);
const statuses: number[] = [];
for (const proxy of proxies) {
  const client = new HttpClient({ ...trusting, proxy });
  const response = await client.fetch(url);
  await response.text();
  statuses.push(response.status);
}
console.log(statuses.join(" "));
