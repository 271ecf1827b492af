/**
 * What the command line needs besides the public API, of which this is no part.
 *
 * @module
 */
export { isOursAlone } from "./custom_fields.ts";
export { requireFieldValue } from "../semantics/field_value.ts";
export { printable } from "./printable.ts";
export { settingsOf } from "./settings.ts";
