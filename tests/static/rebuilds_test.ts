import process from "node:process";
import test from "node:test";
import { randomNumbers } from "../support/random_numbers.ts";
import { inFolder } from "../support/folders.ts";
import { kinds, RebuiltSite } from "./rebuilds.ts";

/** The total of rebuilds; more by `MILLRACE_REBUILDS=500 npm run test:node -- tests/static/rebuilds_test.ts`. */
const REBUILDS = Number(process.env.MILLRACE_REBUILDS ?? 16);
/** Sites of each kind that are rebuilt at a time. */
const SITES = Math.min(6, Math.ceil(REBUILDS / 8));

test("sites that are rebuilt in place under load: no wrong response, nothing lost that was there, and they heal", () =>
  inFolder(async (folder) => {
    const seed = Number(process.env.MILLRACE_SEED ?? Math.floor(Math.random() * 2 ** 31));
    const times = Math.ceil(REBUILDS / kinds.length / SITES);
    const sites = kinds.flatMap((kind, k) =>
      Array.from({ length: SITES }, async (_, i) => {
        const site = await RebuiltSite.start(`${folder}/${i}`, kind, randomNumbers(seed + 1000 * k + i));
        await site.rebuild(times);
      })
    );
    for (const site of await Promise.allSettled(sites)) {
      if (site.status === "rejected") throw new Error(`with MILLRACE_SEED=${seed}`, { cause: site.reason });
    }
  }));
