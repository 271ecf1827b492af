/**
 * The commands of `millrace`.
 *
 * @module
 */
export { main } from "./main.ts";
