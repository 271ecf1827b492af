import { CompressionStream } from "../codecs/mod.ts";
import { formatBytes } from "../quantities/mod.ts";
import { sleep } from "../timers/mod.ts";
import { lifetimeOf, type Received } from "./received.ts";

/**
 * The faults of a response. `broken`: an error, or not in its coding; `uncacheable`: loaded completely on each visit;
 * `never-304`: sent completely although unchanged; `kept-too-long`: cached under a name without a hash; `asked-again`:
 * requested on each visit in spite of a hash; `whole-updates`: each new version is sent completely.
 */
export type FindingKind =
  | "broken"
  | "uncompressed"
  | "compressed-badly"
  | "uncacheable"
  | "never-304"
  | "kept-too-long"
  | "asked-again"
  | "whole-updates";

export interface Finding {
  readonly kind: FindingKind;
  readonly message: string;
}

/** Findings that most sites have, which do not fail a build. */
export const hints: ReadonlySet<FindingKind> = new Set(["whole-updates"]);

/** A file of a site, as it was sent. */
export interface AnalyzedFile {
  /** The URL after all redirects; the path for a folder's file. */
  readonly url: string;
  readonly status: number;
  /** The media type without parameters; empty if there is none. */
  readonly type: string;
  /** The content coding of the response, such as `br`; `identity` if none. */
  readonly coding: string;
  /** The number of received body bytes. */
  readonly sent: number;
  /** The number of bytes that precompress would have sent, at most those received. */
  readonly best: number;
  readonly findings: readonly Finding[];
}

export interface Analysis {
  readonly target: string;
  readonly files: readonly AnalyzedFile[];
  /** The number of references to other origins. */
  readonly elsewhere: number;
  /** The reasons why some files were not analyzed; empty if all were. */
  readonly limits: readonly string[];
  readonly sent: number;
  readonly best: number;
}

/** The minimum of precompress: smaller files and savings are not worth a variant. */
const MIN_SIZE = 1024;
const MIN_SAVING = 0.05;
/** The share of a file, and the bytes, above which its compression counts as bad. */
const MIN_LOSS = 0.1;
const MIN_LOST = 512;
/** The size in bytes above which brotli's best level takes minutes. */
const LARGE = 4 << 20;
/** The bytes to compress between two checks of the signal. */
const CHUNK_SIZE = 1 << 16;
const DAY = 86_400;
/** The minimum bytes, as sent, of an update that is worth a delta. */
const MIN_DELTA = 4096;

const COMPRESSED_FORMATS =
  /^(?:image\/(?!svg|bmp|x-icon|vnd\.microsoft)|video\/|audio\/|font\/woff|application\/(?:zip|gzip|zstd|pdf|x-7z|font-woff|vnd\.openxml))/;

/** Judges a received file. `hasHash`: whether its name has a hash of its content. */
export async function evaluate(file: Received, hasHash: boolean, signal: AbortSignal): Promise<AnalyzedFile> {
  const { url, kind, status, headers, bytes, content } = file;
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const coding = headers.get("content-encoding")?.toLowerCase() || "identity";
  const told = { url, status, type, coding, sent: bytes.length };
  if (status >= 400) {
    return { ...told, best: bytes.length, findings: [finding("broken", `it is answered with ${status}`)] };
  }
  if ("fault" in content) return { ...told, best: bytes.length, findings: [finding("broken", content.fault)] };
  const isCode = kind === "script" || kind === "style";
  if (type === "text/html" && isCode) {
    const message = `it is answered with a page, of text/html, in place of a ${kind}: is the file missing?`;
    return { ...told, best: bytes.length, findings: [finding("broken", message)] };
  }
  const best = Math.min(bytes.length, COMPRESSED_FORMATS.test(type) ? Infinity : await bestSize(content, signal));
  const findings = [...sizeFindings(bytes.length, best, coding, content.length), ...cacheFindings(file, hasHash)];
  if (isCode && best >= MIN_DELTA && !headers.has("use-as-dictionary")) {
    const message = `each new version is sent whole: deltas would be a part of ${formatBytes(best)}`;
    findings.push(finding("whole-updates", message));
  }
  return { ...told, best, findings };
}

async function bestSize(content: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<number> {
  if (content.length < MIN_SIZE) return Infinity;
  const level = content.length > LARGE ? 9 : 11;
  const { readable, writable } = new CompressionStream("brotli", { level, size: content.length });
  const writer = writable.getWriter();
  const write = async (): Promise<void> => {
    for (let at = 0; at < content.length; at += CHUNK_SIZE) {
      await sleep(0);
      signal.throwIfAborted();
      await writer.write(content.subarray(at, at + CHUNK_SIZE));
    }
    await writer.close();
  };
  void write().catch((error) => writer.abort(error)); // the reader of the body reports the failure
  let size = 0;
  for await (const { length } of readable) size += length;
  return size <= content.length * (1 - MIN_SAVING) ? size : Infinity;
}

function sizeFindings(sent: number, best: number, coding: string, size: number): Finding[] {
  const saved = `${formatBytes(sent)}, and ${formatBytes(best)} once precompressed`;
  if (coding === "identity") return best < sent ? [finding("uncompressed", saved)] : [];
  if (sent - best < Math.max(MIN_LOST, sent * MIN_LOSS)) return [];
  return [finding("compressed-badly", `${saved} (${coding} now; ${formatBytes(size)} in itself)`)];
}

function cacheFindings({ headers, url, kind, statusAgain }: Received, hasHash: boolean): Finding[] {
  const { isStored, fresh, hasValidator } = lifetimeOf(headers);
  if (!isStored) return [finding("uncacheable", "Cache-Control: no-store has it loaded anew on each visit")];
  if (fresh === 0 && !hasValidator) {
    return [
      finding("uncacheable", "it has no ETag, no Last-Modified and no lifetime: it is loaded anew on each visit"),
    ];
  }
  const found: Finding[] = [];
  const isNamed = hasHash || url.includes("?"); // a query often contains the version
  if (fresh >= DAY && !isNamed) {
    const time = `${Math.floor(fresh / DAY)} ${fresh < 2 * DAY ? "day" : "days"}`;
    found.push(finding("kept-too-long", `it is kept for ${time} under a name without a hash: updates come late`));
  }
  if (fresh < 7 * DAY && hasHash && kind !== "page") {
    found.push(
      finding("asked-again", "its name holds a hash, and it is asked for again: say max-age=31536000, immutable"),
    );
  }
  if (statusAgain !== undefined && statusAgain !== 304) {
    found.push(finding("never-304", `asked for with its validators it comes whole, with ${statusAgain}`));
  }
  return found;
}

function finding(kind: FindingKind, message: string): Finding {
  return { kind, message };
}
