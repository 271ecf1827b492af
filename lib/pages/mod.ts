/**
 * Finds the files that a browser loads for an HTML page.
 *
 * @module
 */
export { headerReferences, type Reference, type ReferenceKind } from "./reference.ts";
export { pageReferences } from "./page_references.ts";
export { scriptReferences } from "./script_references.ts";
export { styleReferences } from "./style_references.ts";
