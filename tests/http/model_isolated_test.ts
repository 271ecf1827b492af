import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { HttpClient } from "../../lib/http/mod.ts";
import { LIMIT, until, within } from "../support/waits.ts";
import { chosenSeed, SeededRandom } from "./faults/seeded_random.ts";
import { leavesNothing } from "./leaves_nothing.ts";
import { chooseWays, clientOptions, Program } from "./model/program.ts";
import { World } from "./model/world.ts";

/** MILLRACE_POOL_STEPS: how many steps in all; MILLRACE_SEED: the seed of the first program. */
const steps = Number(process.env.MILLRACE_POOL_STEPS ?? 300);
const STEPS = 50;
/** Programs after which is looked for timers: the client's own look after responses may take a second to end. */
const LOOK = 20;

/** Runs a program with its own client, and requires that no socket is left. */
async function runProgram(world: World, seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const isCalm = random.chance(0.25);
  world.refuse(random, isCalm);
  const options = clientOptions(world, random, isCalm);
  await world.reset(options.h2c!);
  if (options.proxy !== undefined) chooseWays(world, random);
  const client = new HttpClient(options);
  try {
    await within(new Program(world, random, client, isCalm, options.retries!).run(STEPS), "the program");
    await until(() => {
      const { active, queued, connecting } = client.stats();
      return active + queued + connecting === 0;
    }, "no request under way");
    await within(client.close(), "close()");
    assert.equal(client.stats().connections, 0);
    await until(() => world.sockets === 0, "the end of all sockets");
  } finally {
    client.destroy();
  }
}

test(
  `${steps} random steps of requests, servers, proxies, names and addresses: every request ends once, after few attempts, at its host, by its proxy, and nothing is left`,
  {
    timeout: 3_600_000,
  },
  async () => {
    const first = chosenSeed();
    const world = new World();
    await world.start();
    try {
      const end = first + steps / STEPS;
      for (let start = first; start < end; start += LOOK) {
        let seed = start;
        await leavesNothing({ limit: LOOK * LIMIT }, async () => {
          for (; seed < Math.min(start + LOOK, end); seed++) await runProgram(world, seed);
          seed = start;
        }).catch((error) => {
          throw new Error(`MILLRACE_SEED=${seed} repeats it`, { cause: error });
        });
      }
    } finally {
      await world.stop();
    }
  },
);
