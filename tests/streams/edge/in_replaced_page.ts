/**
 * The script of a page that replaces globals, as its query says, before it loads this package's streams.
 *
 * @module
 */
import { replacements, tries } from "../replacements.ts";

replacements[new URLSearchParams(location.search).get("by")!]!();
let unhandled = "none";
addEventListener("unhandledrejection", ({ reason }) => unhandled = String(reason));
const seen = { ...await tries(() => import("../../../lib/streams/mod.ts")), unhandled };
(globalThis as { seen?: unknown }).seen = seen;
