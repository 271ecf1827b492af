/**
 * The errors of misuse, each with what was tried, why it cannot be, and what can.
 *
 * @module
 */

/** Something is not what it has to be. */
export function mustBe(name: string, what: string): TypeError {
  return new TypeError(`${name} must be ${what}`);
}

/** A state does not allow what was tried. */
export function cannot(action: string, why: string): TypeError {
  return new TypeError(`Cannot ${action}: ${why}`);
}

/** A method was called on an object of another class. */
export function wrongThis(member: string, name: string): TypeError {
  return mustBe(`the object of ${member}`, `a ${name} of @millrace/streams`);
}

/** A stream is held by a reader, a writer, a pipe or the runtime. */
export function lockedError(action: string): TypeError {
  return cannot(action, "the stream is locked; whoever holds it must release it first");
}

/** A reader or a writer does not hold its stream any longer. */
export function releasedError(action: string, what: "reader" | "writer"): TypeError {
  return cannot(action, `the ${what} was released; get another one from the stream`);
}

/** A stream takes no more, as its state, or a close that is on its way, says. */
export function endedError(action: string, state: string): TypeError {
  return cannot(action, `the stream ${state === "errored" ? "has errored" : "is closed or closing"}`);
}
