import { bundleSite, type Site, thousandFileSite } from "./sites.ts";

/** The request of a scenario. */
export interface Scenario {
  readonly title: string;
  readonly site: () => Promise<Site>;
  /** The fields of every request besides `Host`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Whether each request sends the entity tag of its file. */
  readonly revalidates: boolean;
}

const PLAIN = { "Accept-Encoding": "zstd, br, gzip" };
/** The request of Chromium 142 for a script of a page; with `Host`, 15 fields. */
const BROWSER = {
  "Connection": "keep-alive",
  "sec-ch-ua-platform": '"Linux"',
  "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "sec-ch-ua": '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
  "sec-ch-ua-mobile": "?0",
  "Accept": "*/*",
  "Sec-Fetch-Site": "same-origin",
  "Sec-Fetch-Mode": "no-cors",
  "Sec-Fetch-Dest": "script",
  "Referer": "https://example.com/products/1234",
  "Accept-Encoding": "gzip, deflate, br, zstd",
  "Accept-Language": "en-GB,en;q=0.9,de;q=0.8",
  "Cookie": "session=9f86d081884c7d659a2feaa0c55ad015; theme=dark",
  "Priority": "u=1",
};

/** All scenarios. */
export const scenarios: readonly Scenario[] = [
  { title: "5 bundles of 50 KB", site: bundleSite, fields: PLAIN, revalidates: false },
  { title: "5 bundles of 50 KB, 15 request fields", site: bundleSite, fields: BROWSER, revalidates: false },
  { title: "1,000 files of 2 to 30 KB", site: thousandFileSite, fields: PLAIN, revalidates: false },
  { title: "304 for 5 bundles", site: bundleSite, fields: PLAIN, revalidates: true },
];
