import { checkedSize } from "../streams/internal.ts";

/**
 * A caller's size(), which lets go of files when it fails: that errors the stream, and the sink of one is not told.
 *
 * @param letGo Called when it throws, or returns no size.
 */
export function guardedSize<T>(size: QueuingStrategySize<T>, letGo: () => void): QueuingStrategySize<T> {
  return (chunk) => {
    try {
      return checkedSize(size(chunk));
    } catch (error) {
      letGo();
      throw error;
    }
  };
}
