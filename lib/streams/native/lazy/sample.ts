import { NativeReadableStream } from "../../language/native_classes.ts";
import { getterOf } from "#streams/getter_of";
import { farFromTop } from "./far_from_top.ts";

/** The symbols by which Node's objects have the name of their class, and all that changes of them. */
interface Keys {
  readonly name: PropertyKey;
  readonly record: PropertyKey;
}

/** The symbols that the runtime asks its streams for, once it was tried; `undefined` where it does not ask for two. */
let keys: Keys | undefined;
let isTried = false;

/**
 * An object as the runtime's class makes it, to be looked at: one that has nothing but the two symbols that all of Node's
 * classes have, or, where these are not known, one that `make` makes.
 *
 * Node marks each stream of its own as one that can be transferred, and ours by the same function. That is fast for the
 * first four classes that it sees only (a new WritableStream took 210 ns instead of 140), of which `URL` is one and ours
 * are three: so no stream of Node's is made before these.
 */
export function sampleOf({ name }: { readonly name: string }, make: () => object): object {
  if (!isTried) keys = farFromTop(askedKeys);
  isTried = true;
  if (keys === undefined) return make();
  return { [keys.name]: name, [keys.record]: { readable: {}, writable: {} } };
}

/** Whether samples are made without the runtime's classes. */
export function knowsKeys(): boolean {
  return keys !== undefined;
}

/** The symbols that the getter of `locked` asks a stream for; only with a name behind one of them it answers. */
function askedKeys(): Keys | undefined {
  const asked = keysThatAreAsked(undefined);
  const name = asked.length === 2 ? asked.find((key) => keysThatAreAsked(key).length === 2) : undefined;
  return name === undefined ? undefined : { name, record: asked.find((key) => key !== name)! };
}

/** The symbols that are asked of an object with the class's name behind one of them, and a record behind all others. */
function keysThatAreAsked(nameKey: PropertyKey | undefined): PropertyKey[] {
  const asked = new Set<PropertyKey>();
  const stream = new Proxy({}, {
    get(_, key) {
      asked.add(key);
      return key === nameKey ? NativeReadableStream.name : {};
    },
  });
  try {
    getterOf(NativeReadableStream.prototype, "locked").call(stream);
  } catch {
    if (nameKey !== undefined) return []; // that is not where the name is
  }
  return [...asked];
}
