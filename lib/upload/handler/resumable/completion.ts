import { type Undoable, undoAll } from "../../../files/internal.ts";
import { ALGORITHMS, type DigestAlgorithm, formatDigest } from "../../../semantics/mod.ts";
import { Digester, parseDigestField, verifyDigests } from "../../body/announced.ts";
import type { BodySource } from "../../body/body_source.ts";
import type { UploadError } from "../../body/upload_error.ts";
import type { SessionHold, SessionRecord, StagedFile, StoreOptions } from "../../session/session_storage.ts";
import { storeBody } from "../../sink/save_body.ts";
import type { Answer } from "../incoming.ts";
import { completed, stored, storeParts } from "../reception.ts";
import { conditionFailed, conditionIn, requireConditions, wantsNone } from "../storage.ts";
import { type Digests, type Exchange, infoOf, isFinal, requestOf } from "./exchange.ts";

/**
 * Stores what is made of the data of a session: the files of a form, or what was decoded. They are made in the session
 * first, and noted with their names. After a kill each gets its name once, and `onComplete()` is called with one of
 * them twice at most.
 *
 * @throws {UploadError | Refusal} if it is refused; none of the files has its name then.
 */
async function storeStaged(exchange: Exchange, hold: SessionHold, digests: Digests): Promise<Answer> {
  const { settings, request } = exchange;
  if (hold.record.state === "open") await stage(exchange, hold, digests);
  const { isForm, staged = [], texts = {}, told = 0 } = hold.record;
  const paths = await placeAll(exchange, hold, staged, []);
  const files = staged.map(({ part: _part, isThere: _isThere, ...file }) => file);
  for (const [index, file] of files.entries()) {
    if (index < told || settings.onComplete === undefined) continue;
    await settings.onComplete(completed(file, paths[index], infoOf(exchange, hold.record)));
    if (index + 1 < files.length) await hold.save({ ...hold.record, told: index + 1 });
  }
  const isNew = isForm ? files.length > 0 : !staged[0]!.isThere;
  return stored(settings, request, files, texts, isNew ? 201 : 200);
}

async function stage(exchange: Exchange, hold: SessionHold, digests: Digests): Promise<void> {
  await hold.clearStage();
  const made = hold.record.isForm ? await stageForm(exchange, hold) : await stageDecoded(exchange, hold);
  await hold.save({ ...hold.record, state: "storing", bytes: hold.offset, digests, ...made });
}

async function stageForm(
  exchange: Exchange,
  hold: SessionHold,
): Promise<{ readonly staged: StagedFile[]; readonly texts: Record<string, string | string[]> }> {
  const { settings } = exchange;
  const info = infoOf(exchange, hold.record);
  const options = stagingOptions(exchange);
  const { files, areThere, texts } = await storeParts(settings, info, sourceOf(hold), options, (_name, type, index) => {
    return hold.staged(partOf(index), type);
  });
  return { staged: files.map((file, index) => ({ part: partOf(index), isThere: areThere[index]!, ...file })), texts };
}

async function stageDecoded(exchange: Exchange, hold: SessionHold): Promise<{ readonly staged: StagedFile[] }> {
  const { contentType, name } = hold.record;
  const isThere = await hasName(exchange, hold.record);
  const part = partOf(0);
  const destination = hold.staged(part, contentType);
  const { bytes, digest } = await storeBody(sourceOf(hold), destination, stagingOptions(exchange));
  return { staged: [{ part, isThere, name: name!, bytes, digest, contentType }] };
}

/** Whether another file has the name of an upload. Of a PUT the conditions must hold. */
async function hasName({ settings }: Exchange, record: SessionRecord): Promise<boolean> {
  const status = await settings.storage.look(record.name!);
  if (record.method === "PUT") requireConditions(requestOf(record, null), status);
  return status !== undefined;
}

/** The options for data that is here already: it has no sender who may be slow, and its digests were verified. */
function stagingOptions({ settings }: Exchange): Exchange["settings"]["save"] {
  const { onProgress: _onProgress, root: _root, ...save } = settings.save;
  return { ...save, overwrite: false, verify: false, idleTimeout: Infinity, minRate: 0 };
}

function partOf(index: number): string {
  return `part.${index}`;
}

/** Gives files their names: all, or with `made` none; those that have theirs from before a kill keep them. */
async function placeAll(
  exchange: Exchange,
  hold: SessionHold,
  files: readonly (Pick<StoreOptions, "part" | "isThere"> & { readonly name: string })[],
  made?: Undoable[],
): Promise<(string | undefined)[]> {
  const { storage, save } = exchange.settings;
  const { isForm, method } = hold.record;
  const source = requestOf(hold.record, null);
  const condition = !isForm && method === "PUT" ? conditionIn(source) : undefined;
  const overwrite = save.overwrite === true && !(condition && wantsNone(source));
  const claim = condition && overwrite ? storage.claim(source) : undefined;
  const paths: (string | undefined)[] = [];
  try {
    for (const { name, part, isThere } of files) {
      paths.push(await hold.store(name, { overwrite, part, isThere, made, claim }));
    }
  } catch (failure) {
    const error = storage.explained(failure, files[paths.length]!.name);
    // After any other failure it is tried again, with those that have their names.
    if (made !== undefined && isFinal(error)) await undoAll(made);
    if (condition && (error as UploadError).code === "EXISTS") throw conditionFailed(condition, error);
    throw error;
  }
  return paths;
}

/** The request that the data was sent with, as if all of it had come at once. */
function sourceOf(hold: SessionHold): Request & BodySource {
  return requestOf(hold.record, streamOf(hold.read())) as Request & BodySource;
}

/** Data as a stream: each chunk is a copy, since a stream may keep it. */
function streamOf(data: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const pieces = data[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value.slice());
    },
    cancel: async () => void await pieces.return?.(),
  }, { highWaterMark: 0 });
}

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
  // Of a coded body, other bytes are stored than those that were sent.
  const isCoded = exchange.settings.save.decode === true && record.fields["content-encoding"] !== undefined;
  const isPlain = record.name !== undefined && !isCoded;
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

/** Holds the data against the digest that the creation announced; returns the digests that the answer tells. */
async function verified({ settings }: Exchange, hold: SessionHold): Promise<Digests> {
  const { "repr-digest": announced, "want-repr-digest": wanted } = hold.record.fields;
  const { verify = true, digest } = settings.save;
  const expected = verify && announced !== undefined ? parseDigestField("Repr-Digest", announced) : new Map();
  const algorithms = new Set<DigestAlgorithm>(expected.keys());
  if (digest !== undefined) algorithms.add(digest);
  const preferred = preferredOf(wanted);
  if (preferred !== undefined) algorithms.add(preferred);
  if (algorithms.size === 0) return {};
  const digester = new Digester(algorithms);
  for await (const piece of hold.read()) digester.update([piece]);
  const actual = digester.finish();
  verifyDigests("Repr-Digest", expected, actual);
  return Object.fromEntries(actual);
}

/** The algorithm that `Want-Repr-Digest` weighs most; undefined if it wants none that is known. */
function preferredOf(wanted: string | undefined): DigestAlgorithm | undefined {
  const weights = ALGORITHMS.map((algorithm) => {
    const [, weight] = new RegExp(`(?:^|[,\\s])${algorithm}=(\\d+)`).exec(wanted ?? "") ?? [];
    return { algorithm, weight: Number(weight ?? 0) };
  });
  return weights.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)[0]?.algorithm;
}

async function takeName(exchange: Exchange, hold: SessionHold, digests: Digests): Promise<Answer> {
  const { settings, request } = exchange;
  if (hold.record.state === "open") {
    const isThere = await hasName(exchange, hold.record);
    await hold.save({ ...hold.record, state: "storing", bytes: hold.offset, isThere, digests });
  }
  const { name, bytes, isThere, contentType } = hold.record;
  const [path] = await placeAll(exchange, hold, [{ name: name! }]);
  const algorithm = settings.save.digest;
  const digest = algorithm && digests[algorithm];
  const file = { name: name!, bytes: bytes!, digest: digest && formatDigest(algorithm!, digest), contentType };
  await settings.onComplete?.(completed(file, path, infoOf(exchange, hold.record)));
  const answer = stored(settings, request, [file], {}, isThere ? 200 : 201);
  const told = ALGORITHMS.flatMap((name) => digests[name] === undefined ? [] : formatDigest(name, digests[name]))
    .join(", ");
  return told === "" ? answer : { ...answer, fields: { ...answer.fields, "Repr-Digest": told } };
}
