/**
 * Tells asynchronous contexts apart, as `AsyncLocalStorage` keeps them: no API does that, so this looks where the runtime
 * keeps the context, and makes sure that it is there. Where it is not, no two contexts are the same.
 *
 * @module
 */

/** Something that is another in each context; in Node it is also another after each `run()` that has ended. */
type Token = unknown;

interface AsyncHooks {
  readonly AsyncLocalStorage: new () => { run<T>(store: unknown, steps: () => T): T };
  readonly AsyncResource: new (type: string) => { runInAsyncScope<T>(steps: () => T): T };
}

interface BuiltinModules {
  readonly getBuiltinModule?: (name: string) => unknown;
}

interface DenoCore {
  readonly getAsyncContext?: () => unknown;
  readonly setAsyncContext?: (context: unknown) => void;
}

interface DenoInternals {
  readonly internal: symbol;
  readonly [internal: symbol]: { readonly core?: DenoCore } | undefined;
}

/** The context that is current. */
export const currentContext: () => Token = ofDeno() ?? ofNode() ?? (() => ({}));

/** Without `node:async_hooks`: once that is loaded, Deno delivers messages between microtasks. */
function ofDeno(): (() => Token) | undefined {
  const { Deno: deno } = globalThis as { Deno?: DenoInternals };
  const { getAsyncContext, setAsyncContext } = deno?.[deno.internal]?.core ?? {};
  if (typeof getAsyncContext !== "function" || typeof setAsyncContext !== "function") return undefined;
  const outside = getAsyncContext();
  const other = {};
  setAsyncContext(other);
  const isOther = getAsyncContext() === other;
  setAsyncContext(outside);
  return isOther && getAsyncContext() === outside ? getAsyncContext : undefined;
}

/** Node 24 and later: a resource holds the frame that is current where it is made. */
function ofNode(): (() => Token) | undefined {
  const { process, Deno: deno } = globalThis as unknown as Partial<{ process: BuiltinModules; Deno: unknown }>;
  if (deno !== undefined) return undefined;
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as AsyncHooks | undefined;
  if (hooks === undefined) return undefined;
  const { AsyncLocalStorage, AsyncResource } = hooks;
  const frame = Object.getOwnPropertySymbols(new AsyncResource("millrace"))
    .find(({ description }) => description === "context_frame");
  if (frame === undefined) return undefined;
  const current = (): Token => (new AsyncResource("millrace") as unknown as Record<symbol, unknown>)[frame];
  const tellsContexts = (): boolean => {
    const [one, other] = [new AsyncLocalStorage(), new AsyncLocalStorage()];
    const outside = current();
    const [first, same, within] = one.run(1, () => [current(), current(), other.run(1, current)] as const);
    const second = one.run(2, current);
    return first === same && new Set([outside, first, within, second]).size === 4;
  };
  // In a scope of its own: `run()` leaves another context than it found.
  return new AsyncResource("millrace").runInAsyncScope(tellsContexts) ? current : undefined;
}
