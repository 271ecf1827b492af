import { dirname, join } from "node:path";
import process from "node:process";
import { isProcessAlive } from "../runtime/mod.ts";

const NAME = /^\.millrace-(\d+)-[0-9a-f-]+\.tmp$/;

/** A path for a temporary file, in the folder of `path` so that a rename puts it in place at once. */
export function temporaryPath(path: string): string {
  return join(dirname(path), `.millrace-${process.pid}-${crypto.randomUUID()}.tmp`);
}

/** Whether `name` is one that {@linkcode temporaryPath} gives. */
export function isTemporaryName(name: string): boolean {
  return NAME.test(name);
}

/** Whether `name` is that of a temporary file whose process ended without removing it. */
export function isTemporaryOfDeadProcess(name: string): boolean {
  const id = NAME.exec(name)?.[1];
  return id !== undefined && !isProcessAlive(Number(id));
}
