/**
 * A server of one program, by one way: arguments are the way, the program's title, and the port of the origin. Says its
 * port, then answers each line: with its CPU time, or with a profile's parts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import type { Failure } from "../line_process.ts";
import { Profiler } from "./profile.ts";
import type { CpuTime, Listening, Parts, ServerQuestion } from "./questions.ts";
import type { Way } from "./ways.ts";

function say(line: Listening | CpuTime | Parts | Failure): void {
  console.log(JSON.stringify(line));
}

async function listen(way: Way, title: string, origin: string): Promise<number> {
  if (way === "ours" || way === "former") await install(way); // before anything uses the runtime's own streams
  const { serveNode, serveWeb } = await import("./servers.ts");
  const { programOf } = await import("./programs/mod.ts");
  const program = programOf(title);
  const settings = { origin, folder, isDirect: way === "native, direct" };
  return way === "node:stream"
    ? await serveNode(await program.node!(settings))
    : await serveWeb(await program.web(settings));
}

async function install(way: "ours" | "former"): Promise<void> {
  const root = way === "ours" ? new URL("../../", import.meta.url) : pathToFileURL(`${process.env.MILLRACE_FORMER}/`);
  await import(new URL("lib/streams/install.ts", root).href);
}

const folder = mkdtempSync(join(tmpdir(), "millrace-apps-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const profiler = new Profiler();
const [, , way, title, origin] = process.argv;
try {
  say({ port: await listen(way as Way, title, origin) });
} catch (error) {
  say({ failure: String(error).split("\n")[0] });
}
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line) as ServerQuestion;
  if (question === "parts") say(await profiler.stop());
  else {
    if (question === "profile") await profiler.start();
    const { user, system } = process.cpuUsage();
    say({ cpu: user + system });
  }
}
process.exit();
