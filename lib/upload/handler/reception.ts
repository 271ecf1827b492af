import type { BodySource } from "../body/body_source.ts";
import { type FormPart, randomName, type SaveFormOptions } from "../form/form_options.ts";
import { storeBody } from "../sink/save_body.ts";
import { storeForm } from "../form/save_form.ts";
import { UploadError } from "../body/upload_error.ts";
import { type Admitted, nameOf, requireExtension, requireType } from "./admission.ts";
import { type Answer, type Incoming, jsonAnswer } from "./incoming.ts";
import type { CompletedUpload, UploadInfo } from "./handler_options.ts";
import type { Settings } from "./settings.ts";
import { essenceOf } from "../../semantics/mod.ts";
import { encodePath } from "./naming.ts";
import { conditionFailed, wantsNone } from "./storage.ts";

/** A stored file, as the answer describes it. */
interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  readonly digest?: string | undefined;
  readonly field?: string;
  readonly filename?: string;
  readonly contentType: string;
}

/** Counts the bytes of a body. */
export interface Counter {
  bytes: number;
}

/** Receives the body of a request, stores it, and says so. */
export async function receive(
  settings: Settings,
  request: Incoming,
  admitted: Admitted,
  body: BodySource,
  counter: Counter,
): Promise<Answer> {
  const options = counting(settings.save, counter);
  if (admitted.file === undefined) return await receiveForm(settings, request, admitted, body, options);
  const { name, isThere } = admitted.file;
  const { storage } = settings;
  const { contentType } = admitted.info;
  const isConditional = request.method === "PUT" && wantsNone(request.source);
  try {
    const overwrite = options.overwrite === true && !isConditional;
    const destination = storage.destination(name, { overwrite, contentType });
    const saved = await storeBody(body, destination, { ...options, overwrite });
    const { bytes, digest } = saved;
    const file = { name, bytes, digest, contentType };
    await settings.onComplete?.(completed(file, saved.path, admitted.info));
    return stored(settings, request, [file], {}, isThere ? 200 : 201);
  } catch (failure) {
    const error = storage.explained(failure, name);
    // Somebody else was faster.
    if (isConditional && (error as UploadError).code === "EXISTS") throw conditionFailed("If-None-Match", error);
    throw error;
  }
}

async function receiveForm(
  settings: Settings,
  request: Incoming,
  { info }: Admitted,
  body: BodySource,
  options: SaveFormOptions,
): Promise<Answer> {
  const { storage, save } = settings;
  const names: string[] = [];
  const { files, fields } = await storeForm(body, async (part) => {
    const place = await placeOfPart(settings, info, part);
    if (place === undefined) return undefined;
    const { name } = place;
    if (names.includes(name)) {
      throw new UploadError("EXISTS", `Two files of the form would have the name ${JSON.stringify(name)}`);
    }
    names.push(name);
    const { contentType } = part;
    return storage.destination(name, { overwrite: save.overwrite === true, contentType, isUndoable: true });
  }, options).catch((error) => {
    throw storage.explained(error, names.at(-1) ?? "");
  });
  const list = files.map(({ name: field, filename, contentType, bytes, digest }, index) => {
    return { name: names[index], bytes, digest, field, filename, contentType };
  });
  for (const [index, file] of list.entries()) await settings.onComplete?.(completed(file, files[index].path, info));
  return stored(settings, request, list, textsOf(fields), list.length > 0 ? 201 : 200);
}

/** The name that a file of a form gets, and whether there is one already; undefined if it is skipped, an error if refused. */
export async function placeOfPart(
  settings: Settings,
  info: UploadInfo,
  part: FormPart,
): Promise<{ readonly name: string; readonly isThere: boolean } | undefined> {
  requireType(settings, part.contentType);
  const { name: field, filename, contentType } = part;
  const name = settings.name
    ? await nameOf(settings, { ...info, field, filename, contentType })
    : newName(settings, filename, contentType);
  if (name === undefined) return undefined;
  requireExtension(settings, filename);
  const isThere = await settings.storage.look(name) !== undefined;
  if (!isThere || settings.save.overwrite) return { name, isThere };
  throw new UploadError("EXISTS", `Cannot store ${JSON.stringify(name)}: there is a file of that name`);
}

/** A stored file, as `onComplete()` is told of it. */
export function completed(file: StoredFile, path: string | undefined, info: UploadInfo): CompletedUpload {
  const { digest, ...rest } = file;
  return {
    ...rest,
    ...(digest !== undefined && { digest }),
    ...(path !== undefined && { path }),
    ...(file.filename === undefined && info.filename !== undefined && { filename: info.filename }),
    ...(info.metadata !== undefined && { metadata: info.metadata }),
  };
}

/** A type that is accepted says more than a name that anybody can choose, unless its extension is accepted too. */
export function newName({ accept, extensions }: Settings, filename: string, contentType: string): string {
  const saysMore = accept !== undefined && extensions === undefined;
  return randomName(saysMore ? "" : filename, essenceOf(contentType));
}

function counting(options: SaveFormOptions, counter: Counter): SaveFormOptions {
  const { onProgress } = options;
  return {
    ...options,
    onProgress: (progress) => {
      counter.bytes = progress.bytes;
      onProgress?.(progress);
    },
  };
}

/** The answer for files that were stored. */
export function stored(
  { basePath }: Settings,
  { mount }: Pick<Incoming, "mount">,
  files: readonly StoredFile[],
  fields: Readonly<Record<string, string | string[]>>,
  status: 200 | 201,
): Answer {
  const [file] = files;
  const isAlone = files.length === 1;
  return jsonAnswer(status, "application/json", {
    ...(isAlone && status === 201 && { Location: mount + basePath + encodePath(file.name) }),
  }, { files, fields });
}

/** Texts by the names of their fields; a list where there are several of one name. */
export function textsOf(fields: FormData): Record<string, string | string[]> {
  const names = [...new Set(fields.keys())];
  return Object.fromEntries(names.map((name) => {
    const texts = fields.getAll(name) as string[];
    return [name, texts.length === 1 ? texts[0] : texts];
  }));
}
