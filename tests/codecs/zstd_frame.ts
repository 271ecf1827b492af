/**
 * The window size in bytes that a zstd frame's header declares; for a single-segment frame, its content size.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.1}
 */
export function readFrameWindow(frame: Uint8Array): number {
  const descriptor = frame[4]!;
  const singleSegment = (descriptor & 0x20) !== 0;
  if (!singleSegment) {
    const exponent = frame[5]! >> 3;
    const mantissa = frame[5]! & 7;
    const base = 2 ** (10 + exponent);
    return base + (base / 8) * mantissa;
  }
  const view = new DataView(frame.buffer, frame.byteOffset + 5 + [0, 1, 2, 4][descriptor & 3]!);
  switch (descriptor >> 6) {
    case 0:
      return view.getUint8(0);
    case 1:
      return view.getUint16(0, true) + 256;
    case 2:
      return view.getUint32(0, true);
    default:
      return Number(view.getBigUint64(0, true));
  }
}
