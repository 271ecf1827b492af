/**
 * Has tests on Node run without the async hook by which the runner finds the test of a stray error: with it a promise takes
 * 20 times as long, and a file of tests up to 1.8 times. Without it such an error fails the file. `npm test` loads it
 * before tests, and runs a file that failed again with the hook.
 */
import hooks from "node:async_hooks";

const { createHook } = hooks;

// Only the runner's modules meet the replacement: those of tests import the function by its name.
hooks.createHook = (callbacks) => {
  const hook = createHook(callbacks);
  const isOfRunner = new Error().stack?.includes("node:internal/test_runner/") ?? false;
  return isOfRunner ? Object.assign(hook, { enable: () => hook }) : hook;
};
