/** Done as asked. */
export const DONE = 0;
/** Something failed; each failure is named on stderr. */
export const FAILED = 1;
/** The command line's words are off, or what they name is not there. */
export const WRONG_USAGE = 2;

/** Exit statuses of what a signal interrupted, as shells give them. */
export const interrupted = { SIGINT: 130, SIGTERM: 143 } as const;

/** A signal that asks a command to end. */
export type EndingSignal = keyof typeof interrupted;

/** Every {@linkcode EndingSignal}. */
export const endingSignals: readonly EndingSignal[] = ["SIGINT", "SIGTERM"];
