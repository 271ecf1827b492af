import { type Family, type Format, traitsOf } from "./format.ts";

/** The SHA-256 of each encoder's module, in hexadecimal, as `lib/codecs/wasm/build.json` records it. */
const versions: Readonly<Record<Family, string>> = {
  brotli: "8b3fd84be32f9e079d856c3fd76c05ad595f8a317d135292516eba88eac51383",
  zstd: "515c25db5aff801e4da4df1079d89d05e540417b2f76f2db027f9a84f3213e4d",
  deflate: "c97d1692094fb57287debe1efb0c4612afc7d1919026d4a6ef5a2dde43cc2bf4",
};

/** The version of the codec that writes a format: with another one, the bytes may differ. */
export function encoderVersion(format: Format): string {
  return versions[traitsOf(format).family];
}
