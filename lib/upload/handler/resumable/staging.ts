import type { BodySource } from "../../body/body_source.ts";
import { UploadError } from "../../body/upload_error.ts";
import { saveForm } from "../../form/save_form.ts";
import type { StagedFile } from "../../session/session_record.ts";
import type { SessionHold, Stored } from "../../session/session_storage.ts";
import { saveBody } from "../../sink/save_body.ts";
import type { Answer } from "../answer.ts";
import { conditionFailed, requireConditions, wantsNone } from "../place.ts";
import { completed, placeOfPart, stored, textsOf } from "../reception.ts";
import { type Exchange, isFinal } from "./exchange.ts";
import { type Digests, infoOf, requestOf } from "./stored_request.ts";

/**
 * Stores what is made of the data of a session: the files of a form, or what was decoded. They are made in the session
 * first, and noted with their names, so that after a kill each gets its name once, and `onComplete()` is told of one of
 * them twice at most.
 *
 * @throws {UploadError | Refusal} if it is refused; none of the files has its name then.
 */
export async function storeStaged(exchange: Exchange, hold: SessionHold, digests: Digests): Promise<Answer> {
  const { settings, request } = exchange;
  if (hold.record.state === "open") await stage(exchange, hold, digests);
  const { isForm, staged = [], texts = {}, told = 0 } = hold.record;
  const paths = await placeAll(exchange, hold, staged);
  const files = staged.map(({ part: _part, isThere: _isThere, ...file }) => file);
  for (const [index, file] of files.entries()) {
    if (index < told || settings.onComplete === undefined) continue;
    await settings.onComplete(completed(file, paths[index], infoOf(exchange, hold.record)));
    if (index + 1 < files.length) await hold.save({ ...hold.record, told: index + 1 });
  }
  const isNew = isForm ? files.length > 0 : !staged[0]!.isThere;
  return stored(settings, request, files, texts, isNew ? 201 : 200);
}

/** Makes the files in the stage, and notes them. */
async function stage(exchange: Exchange, hold: SessionHold, digests: Digests): Promise<void> {
  await hold.clearStage();
  const made = hold.record.isForm ? await stageForm(exchange, hold) : await stageDecoded(exchange, hold);
  await hold.save({ ...hold.record, state: "storing", bytes: hold.offset, digests, ...made });
}

async function stageForm(
  exchange: Exchange,
  hold: SessionHold,
): Promise<{ readonly staged: StagedFile[]; readonly texts: Record<string, string | string[]> }> {
  const info = infoOf(exchange, hold.record);
  const places: { readonly name: string; readonly isThere: boolean }[] = [];
  const { files, fields } = await saveForm(sourceOf(hold), async (part) => {
    const place = await placeOfPart(exchange.settings, info, part);
    if (place === undefined) return undefined;
    if (places.some(({ name }) => name === place.name)) {
      throw new UploadError("EXISTS", `Two files of the form would have the name ${JSON.stringify(place.name)}`);
    }
    return hold.staged(partOf(places.push(place) - 1), part.contentType);
  }, stagingOptions(exchange));
  const staged = files.map(({ name: field, filename, contentType, bytes, digest }, index) => {
    const { name, isThere } = places[index]!;
    return {
      part: partOf(index),
      isThere,
      name,
      bytes,
      ...(digest !== undefined && { digest }),
      field,
      filename,
      contentType,
    };
  });
  return { staged, texts: textsOf(fields) };
}

async function stageDecoded(exchange: Exchange, hold: SessionHold): Promise<{ readonly staged: StagedFile[] }> {
  const { settings, request } = exchange;
  const { contentType, method } = hold.record;
  const name = hold.record.name!;
  const status = await settings.storage.look(name);
  if (method === "PUT") requireConditions({ ...request, method, source: requestOf(hold.record, null) }, status);
  const part = partOf(0);
  const destination = hold.staged(part, contentType);
  const { bytes, digest } = await saveBody(sourceOf(hold), destination, stagingOptions(exchange));
  const isThere = status !== undefined;
  return { staged: [{ part, isThere, name, bytes, ...(digest !== undefined && { digest }), contentType }] };
}

/** The options for data that is here already: it has no sender who may be slow, and its digests were verified. */
function stagingOptions({ settings }: Exchange): Exchange["settings"]["save"] {
  const { onProgress: _onProgress, root: _root, ...save } = settings.save;
  return { ...save, overwrite: false, verify: false, idleTimeout: Infinity, minRate: 0 };
}

function partOf(index: number): string {
  return `part.${index}`;
}

/** Gives the files their names, all of them or none; those that have theirs from before a kill keep them. */
async function placeAll(
  exchange: Exchange,
  hold: SessionHold,
  staged: readonly StagedFile[],
): Promise<(string | undefined)[]> {
  const { storage, save } = exchange.settings;
  const { isForm, method } = hold.record;
  const isConditional = !isForm && method === "PUT" && wantsNone(requestOf(hold.record, null));
  const overwrite = save.overwrite === true && !isConditional;
  const placed: Stored[] = [];
  try {
    for (const { name, part } of staged) placed.push(await hold.store(name, { overwrite, part }));
  } catch (failure) {
    const error = storage.explained(failure, staged[placed.length]!.name);
    // After any other failure it is tried again, with those that have their names.
    for (const file of isFinal(error) ? placed : []) await file.takeBack();
    if (isConditional && (error as UploadError).code === "EXISTS") throw conditionFailed("If-None-Match", error);
    throw error;
  }
  return placed.map(({ path }) => path);
}

/** The request that the data was sent with, as if all of it had come at once. */
export function sourceOf(hold: SessionHold): Request & BodySource {
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
