import { parseDigestField } from "../../body/announced.ts";
import { verifyDigests } from "../../body/digester.ts";
import type { UploadError } from "../../body/upload_error.ts";
import { digestsOf } from "../../session/append_body.ts";
import type { SessionRecord } from "../../session/session_record.ts";
import type { SessionHold } from "../../session/session_storage.ts";
import { ALGORITHMS, type DigestAlgorithm, formatDigest } from "../../../semantics/mod.ts";
import type { Answer } from "../answer.ts";
import { conditionFailed, requireConditions, wantsNone } from "../place.ts";
import { completed, stored } from "../reception.ts";
import type { Exchange } from "./exchange.ts";
import { type Digests, infoOf, requestOf } from "./stored_request.ts";
import { storeStaged } from "./staging.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Stores what a session has, now that it is whole, tells `onComplete()`, and gives the answer to the upload; again
 * after a kill, or when the response was lost.
 *
 * @throws {UploadError | Refusal} if the file is refused: the digest is another, or the place is taken.
 * @throws {unknown} what the file system says, and `onComplete()`.
 */
export async function complete(exchange: Exchange, hold: SessionHold): Promise<Answer> {
  const { record } = hold;
  if (record.state === "stored") {
    const { status, fields, body } = record.answer!;
    return { status, fields, body: encoder.encode(body) };
  }
  const digests = record.state === "open" ? await verified(exchange, hold) : record.digests!;
  const isPlain = record.name !== undefined && !isCoded(exchange, record);
  const answer = isPlain ? await takeName(exchange, hold, digests) : await storeStaged(exchange, hold, digests);
  const { texts: _texts, staged: _staged, told: _told, ...kept } = hold.record;
  await hold.save({
    ...kept,
    state: "stored",
    bytes: hold.offset,
    answer: { status: answer.status, fields: answer.fields, body: decoder.decode(answer.body) },
  });
  await hold.dropData().catch(() => {}); // the upload is stored; what is left goes when the session expires
  return answer;
}

/**
 * Holds the data against the digest that the creation announced.
 *
 * @returns the digests that the answer tells.
 */
async function verified(
  { settings }: Exchange,
  hold: SessionHold,
): Promise<Digests> {
  const { "repr-digest": announced, "want-repr-digest": wanted } = hold.record.fields;
  const { verify = true, digest } = settings.save;
  const expected = verify && announced !== undefined ? parseDigestField("Repr-Digest", announced) : new Map();
  const algorithms = new Set<DigestAlgorithm>(expected.keys());
  if (digest !== undefined) algorithms.add(digest);
  const preferred = preferredOf(wanted);
  if (preferred !== undefined) algorithms.add(preferred);
  if (algorithms.size === 0) return {};
  const actual = await digestsOf(hold, algorithms);
  verifyDigests("Repr-Digest", expected, actual);
  return Object.fromEntries(actual);
}

/** The algorithm that `Want-Repr-Digest` weighs most; undefined if it wants none that is known. */
export function preferredOf(wanted: string | undefined): DigestAlgorithm | undefined {
  const weights = ALGORITHMS.map((algorithm) => {
    const [, weight] = new RegExp(`(?:^|[,\\s])${algorithm}=(\\d+)`).exec(wanted ?? "") ?? [];
    return { algorithm, weight: Number(weight ?? 0) };
  });
  return weights.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)[0]?.algorithm;
}

/** Whether what is stored are other bytes than those that were sent. */
function isCoded({ settings }: Exchange, { fields }: SessionRecord): boolean {
  return settings.save.decode === true && fields["content-encoding"] !== undefined;
}

/** Moves the complete data to the file's name. */
async function takeName(
  exchange: Exchange,
  hold: SessionHold,
  digests: Digests,
): Promise<Answer> {
  const { settings, request } = exchange;
  const source = requestOf(hold.record, null);
  const isConditional = hold.record.method === "PUT" && wantsNone(source);
  if (hold.record.state === "open") {
    const status = await settings.storage.look(hold.record.name!);
    if (hold.record.method === "PUT") {
      requireConditions({ ...request, method: "PUT", source }, status);
    }
    const isThere = status !== undefined;
    await hold.save({ ...hold.record, state: "storing", bytes: hold.offset, isThere, digests });
  }
  const { name, bytes, isThere, contentType } = hold.record;
  let path: string | undefined;
  try {
    ({ path } = await hold.store(name!, { overwrite: settings.save.overwrite === true && !isConditional }));
  } catch (error) {
    if (isConditional && (error as UploadError).code === "EXISTS") throw conditionFailed("If-None-Match", error);
    throw settings.storage.explained(error, name!);
  }
  const algorithm = settings.save.digest;
  const digest = algorithm && digests[algorithm];
  const file = {
    name: name!,
    bytes: bytes!,
    digest: digest === undefined ? undefined : formatDigest(algorithm!, digest),
    contentType,
  };
  await settings.onComplete?.(completed(file, path, infoOf(exchange, hold.record)));
  const answer = stored(settings, request, [file], {}, isThere ? 200 : 201);
  const told = ALGORITHMS.flatMap((name) => digests[name] === undefined ? [] : formatDigest(name, digests[name]))
    .join(", ");
  return told === "" ? answer : { ...answer, fields: { ...answer.fields, "Repr-Digest": told } };
}
