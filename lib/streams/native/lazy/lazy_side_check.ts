/** A stream class, of ours or the runtime's. */
export type StreamClass = new () => object;

/**
 * The native side of a stream: an object of the runtime's own class that stands for it, made at the first call;
 * `undefined` for what is no stream of the class.
 */
export type NativeSideOf = (stream: object) => object | undefined;

/** Makes the class that is to be checked, with native sides from the given function. */
type MakeStandIn = (sideOf: NativeSideOf) => StreamClass | undefined;

/**
 * Whether the runtime takes a stream without a native side for one of its own, and finds that side when it looks for it;
 * neither may be so in a version that keeps streams in another way.
 *
 * @param sample a stream of the runtime's class.
 * @param prototype of that class.
 */
export function isLikeNative(sample: object, prototype: object, makeStandIn: MakeStandIn): boolean {
  let stream: object | undefined = undefined;
  let hasLooked = false;
  const StandIn = makeStandIn((object) => {
    if (object !== stream) return undefined;
    hasLooked = true;
    return sample;
  });
  if (StandIn === undefined) return false;
  stream = new StandIn();
  if (howCloningFails(stream) !== howCloningFails(sample) || hasLooked) return false;
  const noStream: object = Object.create(StandIn.prototype);
  return gettersOf(prototype).every((get) =>
    passes(get, stream!) && hasLooked && !passes(get, noStream) && !passes(get, StandIn.prototype)
  );
}

/** The getters of a class: `locked`, or `readable` and `writable`, which check first what they are called on. */
function gettersOf(prototype: object): ((this: object) => unknown)[] {
  const names = Object.getOwnPropertyNames(prototype);
  return names.flatMap((name) => Object.getOwnPropertyDescriptor(prototype, name)?.get ?? []);
}

function passes(get: (this: object) => unknown, object: object): boolean {
  try {
    return get.call(object) !== undefined;
  } catch {
    return false;
  }
}

/** A stream that is not transferred is no object to be cloned, and what is said of it tells what it is taken for. */
function howCloningFails(stream: object): string {
  try {
    structuredClone(stream);
    return "";
  } catch (error) {
    return String(error);
  }
}
