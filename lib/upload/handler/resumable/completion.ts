import { ALGORITHMS, type DigestAlgorithm, formatDigest } from "../../../semantics/mod.ts";
import { Digester, parseDigestField, verifyDigests } from "../../body/announced.ts";
import type { OpenSession } from "../../session/session_storage.ts";
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
export async function complete(exchange: Exchange, session: OpenSession): Promise<Answer> {
  const { settings, request } = exchange;
  if (session.record.state === "stored") {
    const { status, fields, body } = session.record.answer!;
    return { status, fields, body: encoder.encode(body) };
  }
  if (session.record.state === "open") {
    const digests = await verified(exchange, session);
    const there = await settings.storage.look(session.record.name!);
    if (session.record.method === "PUT") requireConditions(requestOf(session.record), there);
    const isThere = there !== undefined;
    await session.save({ ...session.record, state: "storing", bytes: session.offset, isThere, digests });
  }
  const { name, bytes, isThere, contentType, digests = {}, method } = session.record;
  const source = requestOf(session.record);
  const path = await underConditions(
    settings,
    { method, source },
    name!,
    undefined,
    (each) => session.store(name!, each),
  );
  const reported = ALGORITHMS.flatMap((name) => digests[name] === undefined ? [] : formatDigest(name, digests[name]));
  const algorithm = settings.save.digest;
  const digest = algorithm && digests[algorithm];
  const file = { name: name!, bytes: bytes!, digest: digest && formatDigest(algorithm!, digest), contentType };
  await settings.onComplete?.(completed(file, path, infoOf(exchange, session.record)));
  const { status, fields, body } = stored(settings, request, [file], {}, isThere ? 200 : 201);
  const all = { ...fields, ...(reported.length > 0 && { "Repr-Digest": reported.join(", ") }) };
  await session.save({
    ...session.record,
    state: "stored",
    answer: { status, fields: all, body: decoder.decode(body) },
  });
  await session.dropData().catch(() => {}); // the upload is stored; what is left goes when the session expires
  return { status, fields: all, body };
}

/** Checks the data against the digest that the creation announced; returns the digests for the answer. */
async function verified(
  { settings }: Exchange,
  session: OpenSession,
): Promise<Readonly<Partial<Record<DigestAlgorithm, string>>>> {
  const { "repr-digest": announced } = session.record.fields;
  const { verify = true, digest } = settings.save;
  const expected = verify && announced !== undefined ? parseDigestField("Repr-Digest", announced) : new Map();
  const algorithms = new Set<DigestAlgorithm>(expected.keys());
  if (digest !== undefined) algorithms.add(digest);
  if (algorithms.size === 0) return {};
  const digester = new Digester(algorithms);
  for await (const piece of session.read()) digester.update([piece]);
  const actual = digester.finish();
  verifyDigests("Repr-Digest", expected, actual);
  return Object.fromEntries(actual);
}
