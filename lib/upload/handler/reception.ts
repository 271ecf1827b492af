import type { BodySource } from "../body/body_source.ts";
import { randomName, type SaveFormOptions } from "../form/form_options.ts";
import type { StagedFile } from "../session/session_storage.ts";
import { storeBody } from "../sink/save_body.ts";
import { storeForm } from "../form/save_form.ts";
import { UploadError } from "../body/upload_error.ts";
import type { BodyDestination } from "../sink/open_sink.ts";
import { type Admitted, nameOf, requireExtension, requirePlace, requireType } from "./admission.ts";
import { type Answer, type Incoming, jsonAnswer } from "./incoming.ts";
import type { CompletedUpload, UploadInfo } from "./handler_options.ts";
import type { Settings } from "./settings.ts";
import { essenceOf } from "../../semantics/mod.ts";
import { locationOf } from "./naming.ts";
import { conditionFailed, conditionIn, wantsNone } from "./storage.ts";

type StoredFile = Omit<StagedFile, "part" | "isThere">;

export interface Counter {
  bytes: number;
}

export async function receive(
  settings: Settings,
  request: Incoming,
  admitted: Admitted,
  body: BodySource,
  counter: Counter,
): Promise<Answer> {
  const options = counting(settings.save, counter);
  if (admitted.file === undefined) return await receiveForm(settings, request, admitted, body, options);
  const { name, found } = admitted.file;
  const { storage } = settings;
  const { contentType } = admitted.info;
  const condition = request.method === "PUT" ? conditionIn(request.source) : undefined;
  try {
    const overwrite = options.overwrite === true && !(condition && wantsNone(request.source));
    const isConditional = overwrite && condition !== undefined;
    const only = isConditional && { only: { found } };
    const destination = storage.destination(name, { overwrite, contentType, ...only });
    const claim = isConditional ? storage.claim(request.source, found) : undefined;
    const { bytes, digest, path } = await storeBody(body, destination, { ...options, overwrite, claim });
    const file = { name, bytes, digest, contentType };
    await settings.onComplete?.(completed(file, path, admitted.info));
    return stored(settings, request, [file], {}, found ? 200 : 201);
  } catch (failure) {
    const error = storage.explained(failure, name);
    // Another request was faster.
    if (condition && (error as UploadError).code === "EXISTS") throw conditionFailed(condition, error);
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
  let last = "";
  const { files, paths, texts } = await storeParts(settings, info, body, options, (name, contentType) => {
    last = name;
    return storage.destination(name, { overwrite: save.overwrite === true, contentType, isUndoable: true });
  }).catch((error) => {
    throw storage.explained(error, last);
  });
  for (const [index, file] of files.entries()) await settings.onComplete?.(completed(file, paths[index], info));
  return stored(settings, request, files, texts, files.length > 0 ? 201 : 200);
}

/** The files and texts of a form; whether each file replaces another, and its path, have the same index. */
interface StoredParts {
  readonly files: readonly StoredFile[];
  readonly areThere: readonly boolean[];
  readonly paths: readonly (string | undefined)[];
  readonly texts: Record<string, string | string[]>;
}

/** Stores a form: each file that is not skipped goes where `destine` says, by its name, type and index. */
export async function storeParts(
  settings: Settings,
  info: UploadInfo,
  body: BodySource,
  options: SaveFormOptions,
  destine: (name: string, contentType: string, index: number) => BodyDestination,
): Promise<StoredParts> {
  const names: string[] = [];
  const areThere: boolean[] = [];
  const { files, fields } = await storeForm(body, async ({ name: field, filename, contentType }) => {
    requireType(settings, contentType);
    const name = settings.name
      ? await nameOf(settings, { ...info, field, filename, contentType })
      : newName(settings, filename, contentType);
    if (name === undefined) return undefined;
    requireExtension(settings, filename);
    const isThere = await requirePlace(settings, name) !== undefined;
    if (names.includes(name)) {
      throw new UploadError("EXISTS", `Two files of the form would have the name ${JSON.stringify(name)}`);
    }
    areThere.push(isThere);
    return destine(name, contentType, names.push(name) - 1);
  }, options);
  return {
    files: files.map(({ name: field, filename, contentType, bytes, digest }, index) => {
      return { name: names[index], bytes, digest, field, filename, contentType };
    }),
    areThere,
    paths: files.map(({ path }) => path),
    texts: textsOf(fields),
  };
}

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

/** A type that is accepted says more than a name that every client can choose, unless its extension is accepted too. */
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

export function stored(
  settings: Settings,
  request: Pick<Incoming, "mount">,
  files: readonly StoredFile[],
  fields: Readonly<Record<string, string | string[]>>,
  status: 200 | 201,
): Answer {
  const [file] = files;
  const isAlone = files.length === 1;
  return jsonAnswer(status, "application/json", {
    ...(isAlone && status === 201 && { Location: locationOf(settings, request, file.name) }),
  }, { files, fields });
}

/** Texts by the names of their fields; a list where there are several of one name. */
function textsOf(fields: FormData): Record<string, string | string[]> {
  const names = [...new Set(fields.keys())];
  return Object.fromEntries(names.map((name) => {
    const texts = fields.getAll(name) as string[];
    return [name, texts.length === 1 ? texts[0] : texts];
  }));
}
