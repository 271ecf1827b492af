#!/usr/bin/env node
/**
 * The command `millrace`, on every runtime: `millrace precompress DIR` and `millrace serve DIR`.
 *
 * @module
 */
import process from "node:process";
import { main } from "../cli/mod.ts";

process.exitCode = await main(process.argv.slice(2));
