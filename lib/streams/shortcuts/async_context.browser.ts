// The stand-in for `async_context.ts` in browsers, which have no asynchronous contexts.

/** The type of a context, which has one value. */
export type Context = undefined;

/** Returns the context that is current. */
export function currentContext(): undefined {}

export function isSameContext(): boolean {
  return true;
}

/** Runs `task`. */
export function runIn(_context: Context, task: { run(): void }): void {
  task.run();
}
