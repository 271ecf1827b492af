/**
 * Runs the scenarios of an application and prints their outcomes as JSON, in a line of its own after what the
 * application itself prints.
 *
 *   node [--import lib/streams/install.ts] tests/interop/applications/drive.ts react
 */
import process from "node:process";
import { within } from "../../support/waits.ts";
import { type Application, toText, turns } from "./recorded.ts";

/** The outcomes of an application's scenarios. */
export interface Outcomes {
  /** Whether this package's streams are the globals. */
  readonly installed: boolean;
  readonly outcomes: Readonly<Record<string, unknown>>;
}

const unhandled: string[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(`a rejection: ${toText(reason)}`));
process.on("uncaughtException", (error) => unhandled.push(`an error: ${toText(error)}`));

const { scenarios } = await import(`./${process.argv[2]}.ts`) as Application;
const outcomes: Record<string, unknown> = {};
for (const [name, scenario] of Object.entries(scenarios)) {
  let outcome: unknown;
  try {
    outcome = await within(scenario(), name);
  } catch (error) {
    outcome = { thrown: toText(error) };
  }
  await turns();
  outcomes[name] = { outcome, unhandled: unhandled.splice(0) };
}
const { ReadableStream: Ours } = await import("../../../lib/streams/mod.ts"); // not before: the runtime's are as they are
const installed = globalThis.ReadableStream === Ours;
const driven = JSON.stringify({ installed, outcomes } satisfies Outcomes);
const line = driven.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8000"); // a free port is another one each time
process.stdout.write(`\n${line}\n`, () => process.exit());
