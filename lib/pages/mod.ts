/**
 * Which files a browser loads for an HTML page.
 *
 * @module
 */
export { pageReferences } from "./page_references.ts";
export { styleReferences } from "./style_references.ts";
export type { Reference, ReferenceKind } from "./reference.ts";
