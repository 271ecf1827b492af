const nothing = (): void => {};

/** Takes the place of a source, sink or transformer that will not be called again, so that it can be collected. */
export const CLEARED: Readonly<
  Record<"abort" | "cancel" | "close" | "flush" | "pull" | "transform" | "write", () => void>
> = {
  abort: nothing,
  cancel: nothing,
  close: nothing,
  flush: nothing,
  pull: nothing,
  transform: nothing,
  write: nothing,
};
