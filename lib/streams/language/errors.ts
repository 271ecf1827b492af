// The errors of misuse: what was tried, why it cannot be, what can; with the `code` of Node's and Bun's own errors.

type Code =
  | "ERR_ARG_NOT_ITERABLE"
  | "ERR_ILLEGAL_CONSTRUCTOR"
  | "ERR_INVALID_ARG_TYPE"
  | "ERR_INVALID_ARG_VALUE"
  | "ERR_INVALID_STATE"
  | "ERR_INVALID_THIS"
  | "ERR_OUT_OF_RANGE";

function withCode<E extends Error>(error: E, code: Code): E {
  return Object.assign(error, { code });
}

/** Something is not of the type that it has to be. */
export function mustBe(name: string, what: string, code: Code = "ERR_INVALID_ARG_TYPE"): TypeError {
  return withCode(new TypeError(`${name} must be ${what}`), code);
}

/** Something has the right type, and a value that it must not have. */
export function badValue(message: string): TypeError {
  return withCode(new TypeError(message), "ERR_INVALID_ARG_VALUE");
}

/** A number is out of its range, or something is not taken that is left for later. */
export function outOfRange(message: string, code: Code = "ERR_INVALID_ARG_VALUE"): RangeError {
  return withCode(new RangeError(message), code);
}

/** A state does not allow what was tried. */
export function cannot(action: string, why: string): TypeError {
  return withCode(new TypeError(`Cannot ${action}: ${why}`), "ERR_INVALID_STATE");
}

/** A class that only a stream makes objects of was called. */
export function illegalConstructor(): TypeError {
  return withCode(new TypeError("Illegal constructor"), "ERR_ILLEGAL_CONSTRUCTOR");
}

/** Makes the error of a member that is called on an object of another class. */
export function wrongThis(name: string): TypeError {
  return withCode(new TypeError(`this must be a ${name} of @millrace/streams`), "ERR_INVALID_THIS");
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

/** A controller gives no more; in Node's words, since what fetch is made of passes over just these. */
export function endedControllerError(action: string, state: string): TypeError {
  return cannot(action, state === "errored" ? "the stream has errored" : "Controller is already closed");
}
