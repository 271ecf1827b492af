/** Marks a new stream as one that can be transferred. */
export type TransferMark = (stream: object) => void;

/** By this Deno tells what it can transfer, wherever on the prototype chain it is. */
const DENO_HOST_OBJECT = Symbol.for("Deno.core.hostObject");

/**
 * How the runtime is told that a stream may go to another thread. Its serializer asks that of each object before it runs
 * any code of the object's, so the answer must be there from the start.
 *
 * @param sample a stream of the runtime's class.
 * @param prototype of the streams that are to be marked like it.
 * @returns `undefined` if there is no way to tell it.
 */
export function transferMarkOf(sample: object, prototype: object): TransferMark | undefined {
  const denoType = Object.getOwnPropertyDescriptor(sample, DENO_HOST_OBJECT);
  if (denoType === undefined) return nodeTransferMark(prototype);
  Object.defineProperty(prototype, DENO_HOST_OBJECT, denoType);
  return () => {};
}

/** The functions of `node:util` and `process` used here. */
interface NodeUtil {
  transferableAbortSignal?(signal: object): object;
}
interface NodeProcess {
  getBuiltinModule?(name: "node:util"): NodeUtil | undefined;
}

/** Whether a stream passes for an AbortSignal, as it must where Node marks that. */
let isMarking = false;

/**
 * Node's mark is a property out of the reach of programs, which its stream classes' constructors set, and which
 * `util.transferableAbortSignal()` sets to the same on whatever has the property by which Node tells an AbortSignal.
 */
function nodeTransferMark(prototype: object): TransferMark | undefined {
  const { process } = globalThis as { process?: NodeProcess };
  const transferable = process?.getBuiltinModule?.("node:util")?.transferableAbortSignal;
  const signalBrand = Object.getOwnPropertySymbols(new AbortController().signal)
    .find(({ description }) => description === "kAborted");
  if (transferable === undefined || signalBrand === undefined) return undefined;
  Object.defineProperty(prototype, signalBrand, { get: () => isMarking ? false : undefined });
  return (stream) => {
    isMarking = true;
    transferable(stream);
    isMarking = false;
  };
}
