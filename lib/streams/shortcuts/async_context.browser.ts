// The stand-in for `async_context.ts` in browsers, which have no asynchronous contexts.

/** The type of a context, which has one value. */
export type Context = undefined;

export function currentContext(): undefined {}

export function isSameContext(): boolean {
  return true;
}

export function runIn(_context: Context, task: { run(): void }): void {
  task.run();
}
