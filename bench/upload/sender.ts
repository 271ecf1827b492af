/** Sends uploads, or checks their results, by lines of JSON on its input. */
import process from "node:process";
import { createInterface } from "node:readline";
import type { Failure } from "../line_process.ts";
import { check } from "./checking.ts";
import { send, type Sending, type Sent } from "./sending.ts";

/** A question: to send uploads, or to check the files in a folder. */
export type Question = Sending | Omit<Sending, "port"> & { readonly folder: string };

/** The answer to a check. */
export interface Checked {
  readonly equal: true;
}

async function answerTo(question: Question): Promise<Sent | Checked> {
  if ("port" in question) return await send(question);
  check(question.folder, question.uploads, question.bytes);
  return { equal: true };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer: Sent | Checked | Failure = await answerTo(JSON.parse(line)).catch((error) => {
    return { failure: String(error.message).split("\n")[0] };
  });
  console.log(JSON.stringify(answer));
}
process.exit();
