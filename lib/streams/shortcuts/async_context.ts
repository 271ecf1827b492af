// Asynchronous contexts, as in `AsyncLocalStorage`, entered in the cheapest way of each runtime.

/** A context, as the runtime represents it. */
export type Context = unknown;

/** Steps to run in a context. */
interface Task<T = void> {
  run(): T;
}

interface Contexts {
  readonly currentContext: () => Context;
  readonly isSameContext: (one: Context, other: Context) => boolean;
  readonly runIn: <T>(context: Context, task: Task<T>) => T;
}

interface AsyncResource {
  runInAsyncScope<T>(steps: (this: Task<T>) => T, task: Task<T>): T;
}

interface AsyncHooks {
  readonly AsyncLocalStorage: { snapshot(): <T>(steps: (task: Task<T>) => T, task: Task<T>) => T };
  readonly AsyncResource: new (type: string) => AsyncResource;
}

type Frames = Record<symbol, unknown>;

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

/** Set at the first use: Bun takes 1 ms to load `node:async_hooks`. */
let contexts: Contexts | undefined;

function contextsHere(): Contexts {
  return contexts ??= ofDeno() ?? ofNodeModules() ??
    { currentContext: () => undefined, isSameContext: () => true, runIn: (_context, task) => task.run() };
}

export function currentContext(): Context {
  return contextsHere().currentContext();
}

/** Whether two contexts are known to be the same. */
export function isSameContext(one: Context, other: Context): boolean {
  return contextsHere().isSameContext(one, other);
}

/** Runs `task` in `context`, and restores the current context when it returns or throws. Returns the result. */
export function runIn<T>(context: Context, task: Task<T>): T {
  return contextsHere().runIn(context, task);
}

/** Enters contexts without `node:async_hooks`: once that module is loaded, Deno delivers messages between microtasks. */
function ofDeno(): Contexts | undefined {
  const { Deno: deno } = globalThis as { Deno?: DenoInternals };
  const { getAsyncContext, setAsyncContext } = deno?.[deno.internal]?.core ?? {};
  if (typeof getAsyncContext !== "function" || typeof setAsyncContext !== "function") return undefined;
  return {
    currentContext: getAsyncContext,
    isSameContext: (one, other) => one === other,
    runIn(context, task) {
      const before = getAsyncContext();
      setAsyncContext(context);
      try {
        return task.run();
      } finally {
        setAsyncContext(before);
      }
    },
  };
}

function ofNodeModules(): Contexts | undefined {
  const { process, Bun } = globalThis as unknown as Partial<{ process: BuiltinModules; Bun: unknown }>;
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as AsyncHooks | undefined;
  if (hooks === undefined) return undefined;
  const { AsyncLocalStorage, AsyncResource } = hooks;
  if (Bun !== undefined) {
    // `runTask()` costs a fifteenth of a microtask. On Node, a snapshot takes 4 µs to make, a resource 0.1 µs.
    const runTask = <T>(task: Task<T>): T => task.run();
    return {
      currentContext: () => AsyncLocalStorage.snapshot(),
      isSameContext: (one, other) => one === other,
      runIn: (context, task) => (context as ReturnType<typeof AsyncLocalStorage.snapshot>)(runTask, task),
    };
  }
  // From Node 24 on, an AsyncResource keeps its context in a property.
  const frame = Object.getOwnPropertySymbols(new AsyncResource("millrace"))
    .find(({ description }) => description === "context_frame");
  return {
    currentContext: () => new AsyncResource("millrace"),
    isSameContext: (one, other) =>
      one === other || (frame !== undefined && (one as Frames)[frame] === (other as Frames)[frame]),
    runIn: (context, task) => (context as AsyncResource).runInAsyncScope(task.run, task),
  };
}
