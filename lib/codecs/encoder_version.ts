import { type Family, type Format, traitsOf } from "./format.ts";

/** The SHA-256 of each encoder's module, in hexadecimal, as `lib/codecs/wasm/build.json` records it. */
const versions: Readonly<Record<Family, string>> = {
  brotli: "6003ca7464954004446bae410e8d9520a828ca4d54160d6af6537fc2bfb5f427",
  zstd: "9437129c2d18dcb5edeb81370267d8a09c15bdb20001f47e002727580927cf3d",
  deflate: "b69d38f6ac1b089d67994a42db9454b570fb3a1ec94cfe2dd9fe6ae8cf419569",
};

/** The version of the codec that writes a format: with another one, the bytes may differ. */
export function encoderVersion(format: Format): string {
  return versions[traitsOf(format).family];
}
