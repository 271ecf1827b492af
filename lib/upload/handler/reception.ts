import type { Undone } from "../../files/internal.ts";
import { storeBody } from "../sink/save_body.ts";
import { storeForm } from "../form/save_form.ts";
import { Refusal, UploadError } from "../body/upload_error.ts";
import { admitFile, type Admitted } from "./admission.ts";
import { type Answer, jsonAnswer, refusalOf, type UploadRequest } from "./incoming.ts";
import type { CompletedUpload, UploadInfo } from "./handler_options.ts";
import type { Settings } from "./settings.ts";
import { locationOf } from "./naming.ts";
import type { StoreOptions } from "../session/session_storage.ts";
import { conditionFailed, conditionIn, type Place, wantsNone } from "./storage.ts";

type StoredFile = Omit<CompletedUpload, "digest" | "metadata" | "path"> & { readonly digest?: string | undefined };

export async function storeUpload(settings: Settings, request: UploadRequest, admitted: Admitted): Promise<Answer> {
  const { onProgress } = settings.save;
  const options: Settings["save"] = {
    ...settings.save,
    onProgress(progress) {
      request.bytes = progress.bytes;
      onProgress?.(progress);
    },
  };
  if (admitted.file === undefined) return await receiveForm(settings, request, admitted, options);
  const { name, found } = admitted.file;
  const { contentType } = admitted.info;
  const size = admitted.admission.announced.expectedBytes;
  const saved = await underConditions(settings, request, name, found, ({ overwrite, claim }) => {
    const only = claim && { only: { found } };
    const destination = settings.storage.destination(name, { overwrite, contentType, size, ...only });
    return storeBody(request.source, destination, { ...options, overwrite, claim });
  });
  const file = { name, bytes: saved.bytes, digest: saved.digest, contentType };
  await settings.onComplete?.(completed(file, saved.path, admitted.info));
  return stored(settings, request, [file], {}, found ? 200 : 201);
}

/** Stores a file under the conditions of its request, and maps a failure to an error for the sender. */
export async function underConditions<T>(
  { storage, save }: Settings,
  { method, source }: Pick<UploadRequest, "method" | "source">,
  name: string,
  found: Place | undefined,
  store: (options: StoreOptions) => Promise<T>,
): Promise<T> {
  const condition = method === "PUT" ? conditionIn(source) : undefined;
  const overwrite = save.overwrite === true && !(condition && wantsNone(source));
  try {
    return await store({ overwrite, claim: condition && overwrite ? storage.claim(source, found) : undefined });
  } catch (failure) {
    const error = storage.explained(failure, name);
    // Another request has stored its file first.
    if (condition && (error as UploadError).code === "EXISTS") throw conditionFailed(condition, error);
    throw error;
  }
}

async function receiveForm(
  settings: Settings,
  request: UploadRequest,
  { admission, info }: Admitted,
  options: Settings["save"],
): Promise<Answer> {
  const { storage, save } = settings;
  const names: string[] = [];
  let outcomes: readonly Undone[] = [];
  const form = await storeForm(request.source, async ({ name: field, filename, contentType }) => {
    const { name } = await admitFile(settings, { ...info, field, filename, contentType }) ?? {};
    if (name === undefined) return undefined;
    if (names.includes(name)) {
      throw new UploadError("EXISTS", `Two files of the form would have the name ${JSON.stringify(name)}`);
    }
    names.push(name);
    const size = admission.announced.expectedBytes; // that of all files
    return storage.destination(name, { overwrite: save.overwrite === true, contentType, size, isUndoable: true });
  }, { ...options, onUndone: (all) => outcomes = all }).catch((failure) => {
    const error = storage.explained(failure, names.at(-1) ?? "");
    const kept = names.filter((_, index) => outcomes[index] === "kept");
    if (kept.length === 0) throw error;
    const { code, message, fields, cause, members } = refusalOf(error, save);
    throw new Refusal(code, message, fields, cause, { ...members, kept });
  });
  const files = form.files.map(({ name: field, path: _, ...file }, index) => ({ ...file, name: names[index], field }));
  for (const [index, file] of files.entries()) {
    await settings.onComplete?.(completed(file, form.files[index].path, info));
  }
  // A repeated name has a list.
  const texts = [...new Set(form.fields.keys())].map((name) => {
    const all = form.fields.getAll(name) as string[];
    return [name, all.length === 1 ? all[0] : all] as const;
  });
  return stored(settings, request, files, Object.fromEntries(texts), files.length > 0 ? 201 : 200);
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

export function stored(
  settings: Settings,
  request: Pick<UploadRequest, "mount">,
  files: readonly StoredFile[],
  fields: Readonly<Record<string, string | string[]>>,
  status: 200 | 201,
): Answer {
  const isNew = files.length === 1 && status === 201;
  const place = isNew && { Location: locationOf(settings, request, files[0].name) };
  return jsonAnswer(status, { ...place }, { files, fields });
}
