/**
 * Cancels bodies of the runtime's Response and Request with this package's streams in the place of the globals, and
 * prints failures and unhandled rejections as JSON. This is a separate process because a test runner would count the
 * errors as failures.
 */
import process from "node:process";
import "../../lib/streams/install.ts";

const failed: string[] = [];
let current = "";
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error: Error) => void failed.push(`${current}: ${error.message}`));
}

const programs: Record<string, () => Promise<unknown>> = {
  "the body of a Response": () => new Response("x").body!.cancel(),
  "the body of a Request": () => new Request("http://localhost/", { method: "POST", body: "x" }).body!.cancel(),
  "Response.json()": () => Response.json({ a: 1 }).body!.cancel(),
  "by a reader": () => new Response("x").body!.getReader().cancel(),
  "by leaving an iteration": async () => {
    for await (const _ of new Response("x").body!) break;
  },
  "both branches of a clone": () => {
    const response = new Response("x");
    const other = response.clone();
    return Promise.all([response.body!.cancel(), other.body!.cancel()]);
  },
};
for (const [name, cancel] of Object.entries(programs)) {
  current = name;
  await cancel().catch((error: Error) => void failed.push(`${name} rejects: ${error.message}`));
  await new Promise((resolve) => setTimeout(resolve, 20));
}
console.log(JSON.stringify(failed));
