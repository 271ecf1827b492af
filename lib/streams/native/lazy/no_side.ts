import { showAsInNode } from "../../language/inspection.ts";
import { howCloningFails, type StandIn } from "./lazy_side_check.ts";
import { standIn } from "./stand_in.ts";

/** Whether there is a class without native sides. */
let isWithout = false;

type Class = StandIn & (new () => object);

/**
 * Lets streams of ours go without a native side for good, where the runtime has no use for one: of a transform stream it
 * takes the two ends, and the whole only to transfer it, which Bun does not. Its constructor makes three streams, and
 * takes longer than ours (a new TransformStream took 2.9 times as long on Bun).
 *
 * Nothing but an object of plain JavaScript would be cloned by `structuredClone()`, where a stream is refused. So ours
 * are made by a constructor of the language whose objects have nothing in them, but are not plain: that of `Iterator`.
 *
 * @returns whether a class stands in the place of the runtime's, which ours is to extend, until `putBack()`.
 */
export function goWithoutNativeSide(native: Class): boolean {
  const sample = new native();
  const { Iterator } = globalThis as unknown as { Iterator?: new () => object };
  if (Reflect.ownKeys(sample).length > 0 || isTransferred(sample) || typeof Iterator !== "function") return false;
  const { construct } = Reflect;
  function StandIn(): object {
    return construct(Iterator!, [], new.target as unknown as Class);
  }
  Object.setPrototypeOf(StandIn, native);
  StandIn.prototype = Object.create(native.prototype);
  const standing = construct(StandIn, []) as object;
  isWithout = howCloningFails(standing) === howCloningFails(sample) && standIn(native, StandIn as unknown as StandIn);
  return isWithout;
}

/** Says what is shown of objects that have no native side, which the runtime would show. */
export function showWithoutNativeSide(
  ours: { readonly prototype: object; readonly name: string },
  membersOf: (stream: object) => object,
): void {
  if (isWithout) showAsInNode(ours, membersOf);
}

function isTransferred(stream: object): boolean {
  try {
    structuredClone(stream, { transfer: [stream as Transferable] });
    return true;
  } catch {
    return false;
  }
}
