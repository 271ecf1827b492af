import { knowsKeys } from "./sample.ts";

/** A class that stands between ours and the runtime's, or either. */
export interface StandIn {
  readonly name: string;
  readonly prototype: object;
}

/**
 * The native side of a stream, a reader or a writer: an object of the runtime's own class that stands for it, made at the
 * first call; `undefined` for what is of another class.
 */
export type NativeSideOf = (object: object) => object | undefined;

type Class = StandIn & (new () => object);

/** Makes the class that is to be checked, with native sides from the given function; `undefined` if there is no way. */
export type MakeStandIn = (sideOf: NativeSideOf) => StandIn | undefined;

/** A member of the runtime's class, which gives something, and throws for objects of others. */
export type Member = (this: object) => unknown;

/**
 * Whether the runtime takes an object without a native side for one of its own, and finds that side when it looks for it;
 * neither may be so in a version that keeps streams in another way.
 *
 * @param sample one of the runtime's own, or, if its symbols are known, one that has them: then it is not cloned.
 * @param members of its class.
 */
export function isLikeNative(sample: object, makeStandIn: MakeStandIn, members: readonly Member[]): boolean {
  let standing: object | undefined = undefined;
  let hasLooked = false;
  const StandIn = makeStandIn((object) => {
    if (object !== standing) return undefined;
    hasLooked = true;
    return sample;
  });
  if (StandIn === undefined) return false;
  const { prototype } = StandIn;
  standing = knowsKeys() ? Object.create(prototype) as object : Reflect.construct(StandIn as Class, []) as object;
  if (!knowsKeys() && (howCloningFails(standing) !== howCloningFails(sample) || hasLooked)) return false;
  const another: object = Object.create(prototype);
  return members.every((member) =>
    passes(member, standing!) && hasLooked && !passes(member, another) && !passes(member, prototype)
  );
}

/** The getters of a class of streams: `locked`, or `readable` and `writable`. */
export function gettersOf(prototype: object): Member[] {
  const names = Object.getOwnPropertyNames(prototype);
  return names.flatMap((name) => Object.getOwnPropertyDescriptor(prototype, name)?.get ?? []);
}

function passes(member: Member, object: object): boolean {
  try {
    return member.call(object) !== undefined;
  } catch {
    return false;
  }
}

/** A stream that is not transferred is no object to be cloned, and what is said of it tells what it is taken for. */
export function howCloningFails(stream: object): string {
  try {
    structuredClone(stream);
    return "";
  } catch (error) {
    return String(error);
  }
}
