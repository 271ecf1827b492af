import { ALGORITHMS, type DigestAlgorithm, formatDigest } from "../../../semantics/mod.ts";
import { Digester, parseDigestField, verifyDigests } from "../../body/announced.ts";
import type { SessionHold } from "../../session/session_storage.ts";
import type { Answer } from "../incoming.ts";
import { completed, stored, underConditions } from "../reception.ts";
import { requireConditions } from "../storage.ts";
import { type Exchange, infoOf, requestOf } from "./exchange.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Stores the whole data of a session, calls `onComplete()`, and returns the answer to the upload. A request after a
 * kill or a lost response does this again.
 *
 * @throws {UploadError | Refusal} if the file is refused: the digest is another, or the place is taken.
 * @throws {unknown} what the file system says, and `onComplete()`.
 */
export async function complete(exchange: Exchange, hold: SessionHold): Promise<Answer> {
  const { settings, request } = exchange;
  if (hold.record.state === "stored") {
    const { status, fields, body } = hold.record.answer!;
    return { status, fields, body: encoder.encode(body) };
  }
  if (hold.record.state === "open") {
    const digests = await verified(exchange, hold);
    const there = await settings.storage.look(hold.record.name!);
    if (hold.record.method === "PUT") requireConditions(requestOf(hold.record), there);
    const isThere = there !== undefined;
    await hold.save({ ...hold.record, state: "storing", bytes: hold.offset, isThere, digests });
  }
  const { name, bytes, isThere, contentType, digests = {}, method } = hold.record;
  const source = requestOf(hold.record);
  const path = await underConditions(settings, { method, source }, name!, undefined, (each) => hold.store(name!, each));
  const told = ALGORITHMS.flatMap((name) => digests[name] === undefined ? [] : formatDigest(name, digests[name]));
  const algorithm = settings.save.digest;
  const digest = algorithm && digests[algorithm];
  const file = { name: name!, bytes: bytes!, digest: digest && formatDigest(algorithm!, digest), contentType };
  await settings.onComplete?.(completed(file, path, infoOf(exchange, hold.record)));
  const { status, fields, body } = stored(settings, request, [file], {}, isThere ? 200 : 201);
  const all = { ...fields, ...(told.length > 0 && { "Repr-Digest": told.join(", ") }) };
  await hold.save({ ...hold.record, state: "stored", answer: { status, fields: all, body: decoder.decode(body) } });
  await hold.dropData().catch(() => {}); // the upload is stored; what is left goes when the session expires
  return { status, fields: all, body };
}

/** Checks the data against the digest that the creation announced; returns the digests for the answer. */
async function verified(
  { settings }: Exchange,
  hold: SessionHold,
): Promise<Readonly<Partial<Record<DigestAlgorithm, string>>>> {
  const { "repr-digest": announced } = hold.record.fields;
  const { verify = true, digest } = settings.save;
  const expected = verify && announced !== undefined ? parseDigestField("Repr-Digest", announced) : new Map();
  const algorithms = new Set<DigestAlgorithm>(expected.keys());
  if (digest !== undefined) algorithms.add(digest);
  if (algorithms.size === 0) return {};
  const digester = new Digester(algorithms);
  for await (const piece of hold.read()) digester.update([piece]);
  const actual = digester.finish();
  verifyDigests("Repr-Digest", expected, actual);
  return Object.fromEntries(actual);
}
