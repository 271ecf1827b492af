import type { FileName } from "./file_name.ts";
import type { HashedPart } from "./tail.ts";

/** Service workers: browsers ask for them anew whatever an answer says. */
const SERVICE_WORKER = /^(?:[a-z]+-)*(?:sw|service-?worker|ngsw-worker)[.-]/i;
/** The end of `git describe`: a tag, how many commits there were since, and the last one's hash. */
const DESCRIBED = /-\d+-g[\da-f]{7}$/;
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** A day, in whatever order of its parts. */
const DATE = /^(?:(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01]){2}(?:19|20)\d\d)$/;
/** A time, a telephone number, an ISBN; or eight digits that somebody counted with: `00000042`, `10000042`, `12345678`. */
const COUNTED = /^\d{9,}$|^\d?0{3}\d{4,5}$|^\d{4,5}0{3}\d?$|^12345678$|^87654321$|^(\d)\1{7}$/;
/** A language with its country or its script. */
const LOCALE = /^[a-z]{2,3}[-_](?:[A-Z]{2}|[A-Z][a-z]{3})(?:[-_]|$)/;
/** Formats, protocols and processors with a version or a width: `utf8Size`, `arm64v8a`, `v1beta1x`, `S01E02v2`. */
const VERSIONED = new RegExp(
  String.raw`^(?:(?:utf|https?|ipv|oauth|dns|tls|quic|rfc|iso|din|sha|aes|rsa|css|pdf|webgl|u?hd|gpt)\d|` +
    String.raw`(?:armv?|amd|riscv|win|mac|ios|linux|darwin|android)\d|x64|x86|i[3-6]86|` +
    String.raw`mp[34]|h26[45]|md5|x509|base64|es[5-9]|es20|i18n|l10n|a11y|k8s|e2e|` +
    String.raw`v\d+(?:alpha|beta|rc)|r1\d\d|s\d\de\d\d|\d{3,4}p\d)`,
  "i",
);
/** Formats, protocols and companies before another word: `HTTPBody`, `OAuthApi`. */
const ACRONYM =
  /^(?:UTF|HTTPS?|HTTP2|JSON|HTML|CSS|XML|RSS|CSV|PDF|GPT4|IPv6|OAuth2?|WebGL|WebGPU|WiFi|GitHub|GitLab)(?=[A-Z]?[a-z])/;
/** The width and the height of a picture; a year. */
const SIZE_OR_YEAR = /^\d+x\d+$|(?:19|20)\d\d/;

/** Whether a name is known to mean something else, though part of it has the shape of a hash. */
export function isNamedOtherwise(path: string, { start, end, kind }: FileName, part: HashedPart): boolean {
  const name = path.slice(start, end);
  const text = path.slice(part.start, part.end);
  if (kind === "script" && SERVICE_WORKER.test(name)) return true;
  if (/^[\da-f]+$/.test(text)) return UUID.test(name) || DATE.test(text) || COUNTED.test(text);
  if (text.length !== 8 || /^[\dA-F]+$/.test(text)) return false;
  return SIZE_OR_YEAR.test(text) || LOCALE.test(text) || VERSIONED.test(text) || ACRONYM.test(text) ||
    DESCRIBED.test(name);
}
