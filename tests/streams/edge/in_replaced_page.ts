/**
 * What a page runs in which something has replaced globals, as its query says, before our streams are loaded.
 *
 * @module
 */
import { replacements, tries } from "../replacements.ts";

replacements[new URLSearchParams(location.search).get("by")!]!();
let unhandled = "none";
addEventListener("unhandledrejection", ({ reason }) => unhandled = String(reason));
const seen = { ...await tries(() => import("../../../lib/streams/mod.ts")), unhandled };
(globalThis as { seen?: unknown }).seen = seen;
