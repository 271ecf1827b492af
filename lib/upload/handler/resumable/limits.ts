import { formatHTTPDate } from "../../../semantics/mod.ts";
import { Refusal } from "../problem.ts";
import { UploadError } from "../../body/upload_error.ts";
import type { SessionHold } from "../../session/session_storage.ts";
import type { Settings } from "../settings.ts";

/** Most bytes of an upload. */
export function maxSizeOf({ save }: Settings): number {
  return save.maxBytes ?? Infinity;
}

/**
 * The value of `Upload-Limit`.
 *
 * @param hold The upload; undefined for what any upload may have.
 * @param age The name of the limit for its age, which early drafts call otherwise.
 */
export function uploadLimit(settings: Settings, hold: SessionHold | undefined, age = "max-age"): string {
  const maxSize = maxSizeOf(settings);
  const { maxAge } = settings.sessions!;
  const left = hold === undefined ? maxAge : Math.max(0, hold.touched + maxAge - Date.now());
  return [...(maxSize === Infinity ? [] : [`max-size=${maxSize}`]), `${age}=${Math.floor(left / 1000)}`].join(", ");
}

/** When an upload expires, as a date of HTTP. */
export function expiryOf({ sessions }: Settings, hold: SessionHold): string {
  return formatHTTPDate(hold.touched + sessions!.maxAge);
}

/** @throws {Refusal} `TOO_LARGE` if an upload of that length is not accepted. */
export function requireSize(settings: Settings, length: number | undefined): void {
  const maxSize = maxSizeOf(settings);
  if (length === undefined || length <= maxSize) return;
  const message = `The upload has ${length} bytes, and at most ${maxSize} are accepted`;
  throw new Refusal(new UploadError("TOO_LARGE", message), message);
}
