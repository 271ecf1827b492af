/**
 * A program that replaces a global, as instrumentation does, and then loads our streams: prints as JSON what it gets of
 * streams of both kinds.
 *
 * @module
 */
import process from "node:process";
import { replacements, tries } from "./replacements.ts";

const [name, module] = process.argv.slice(2);
replacements[name!]!();
let unhandled = "none";
process.on("unhandledRejection", (error) => unhandled = String(error));
console.log(JSON.stringify({ ...await tries(() => import(module ?? "../../lib/streams/mod.ts")), unhandled }));
process.exit();
