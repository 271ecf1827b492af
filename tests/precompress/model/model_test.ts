import process from "node:process";
import test from "node:test";
import { inFolder } from "../../support/folders.ts";
import { isLong } from "../../support/long_run.ts";
import { World } from "./world.ts";

/** The number of steps; more by `MILLRACE_STEPS=20000 npm run test:node -- tests/precompress/model`. */
const STEPS = Number(process.env.MILLRACE_STEPS ?? (isLong ? 120 : 60));
/** The seed, which a failure prints: `MILLRACE_SEED=123` repeats the run. */
const SEED = Number(process.env.MILLRACE_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Steps of one world. */
const LIFE = 60;

test("whatever is edited, run, killed and cleaned: nobody's bytes are touched, and the next run ends as a first one", () =>
  inFolder(async (folder) => {
    for (let done = 0, seed = SEED; done < STEPS; done += LIFE, seed++) {
      const world = await World.make(folder, seed);
      try {
        for (let i = 0; i < Math.min(LIFE, STEPS - done); i++) await world.step();
      } catch (cause) {
        throw new Error(`with MILLRACE_SEED=${seed}, after these steps:\n${world.log.join("\n")}`, { cause });
      } finally {
        world.end();
      }
    }
  }));
