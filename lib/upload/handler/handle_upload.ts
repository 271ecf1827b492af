import { fieldOf } from "../body/body_source.ts";
import { admit, METHODS } from "./admission.ts";
import {
  type Answer,
  type OpenBody,
  pathOf,
  problemAnswer,
  refusalOf,
  type UploadRequest,
  writeLog,
} from "./incoming.ts";
import type { Settings } from "./settings.ts";
import { pathBelow } from "./naming.ts";
import { again } from "../body/upload_error.ts";
import { answerResumable, capabilities, corsFields } from "./resumable/answer_resumable.ts";
import type { Inform } from "./resumable/exchange.ts";
import { storeUpload } from "./reception.ts";

export interface Handled {
  readonly answer: Answer;
  readonly bytes: number;
  /** Whether the connection is to end with the answer. */
  readonly isLast: boolean;
}

/** Answers a request, and tells the log; calls `onOther` for what may be another handler's. Never rejects. */
export async function handleUpload(
  settings: Settings,
  request: UploadRequest,
  openBody: OpenBody,
  { inform, onOther }: { readonly inform?: Inform | undefined; readonly onOther?: (() => void) | undefined } = {},
): Promise<Handled | undefined> {
  const start = performance.now();
  const counter = { bytes: 0 };
  const { method } = request;
  const finish = (answer: Answer, error?: unknown): Handled => {
    const { bytes } = counter;
    const { status } = answer;
    const entry = { method, path: pathOf(request), status, bytes, ms: performance.now() - start };
    writeLog(settings.log, error === undefined ? entry : { ...entry, error });
    const cors = settings.sessions === undefined ? {} : corsFields(settings, request);
    return { answer: { ...answer, fields: { ...answer.fields, ...cors } }, bytes, isLast: activity.isOver };
  };
  const { activity } = settings;
  if (activity.isOver) {
    const refusal = again("The server is about to end");
    return finish(problemAnswer(refusal), refusal);
  }
  return await activity.during(async () => {
    try {
      if (method === "OPTIONS" && pathBelow(request.target, settings.basePath) !== undefined) {
        return finish(optionsAnswer(settings));
      }
      const { sessions } = settings;
      const outcome = sessions && await answerResumable({ settings, sessions, request, openBody, counter, inform });
      if (onOther !== undefined && outcome?.error !== undefined && isOfOther(request, outcome.answer)) {
        return void onOther();
      }
      if (outcome !== undefined) return finish(outcome.answer, outcome.error);
      const admitted = await admit(settings, request);
      return finish(await storeUpload(settings, request, admitted, openBody(), counter));
    } catch (error) {
      return finish(problemAnswer(refusalOf(error, settings.save)), error ?? new Error("it failed without an error"));
    }
  });
}

/** Whether a request of no upload protocol has no session here, or is refused before that is checked. */
function isOfOther({ source }: UploadRequest, { status }: Answer): boolean {
  const isSpoken = ["tus-resumable", "upload-draft-interop-version", "upload-offset", "upload-complete"]
    .some((name) => fieldOf(source, name) !== undefined);
  return !isSpoken && [403, 404, 415].includes(status);
}

function optionsAnswer(settings: Settings): Answer {
  const { accept, sessions } = settings;
  const types = accept === undefined ? "*/*" : `multipart/form-data, ${accept}`;
  const fields = { Allow: sessions ? `DELETE, GET, HEAD, ${METHODS}, PATCH` : METHODS, "Accept-Post": types };
  return { status: 204, fields: { ...fields, ...(sessions && capabilities(settings)) }, body: undefined };
}

export function alreadyRead(): TypeError {
  return new TypeError(
    "The body of the request has been read already: let the upload handler come before body parsers",
  );
}
