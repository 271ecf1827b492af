import type { SessionHold } from "../../session/session_storage.ts";
import type { Answer } from "../answer.ts";
import { receive } from "../reception.ts";
import type { Exchange } from "./exchange.ts";
import { sourceOf } from "./staging.ts";
import { infoOf } from "./stored_request.ts";

/** Receives the representation as if it had come in one request, where a storage has no stage. */
export async function replay(exchange: Exchange, hold: SessionHold): Promise<Answer> {
  const { settings, counter } = exchange;
  const { record } = hold;
  const source = sourceOf(hold);
  const request = { ...exchange.request, method: record.method, source };
  const { name } = record;
  const file = name === undefined ? undefined : { name, isThere: await settings.storage.look(name) !== undefined };
  const { bytes } = counter;
  try {
    const unhurried = { ...settings.save, verify: false, idleTimeout: Infinity, minRate: 0 };
    const admitted = { info: infoOf(exchange, record), file };
    return await receive({ ...settings, save: unhurried }, request, admitted, source, counter);
  } finally {
    counter.bytes = bytes;
  }
}
