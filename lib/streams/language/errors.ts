// The errors of misuse. A message says what failed, why, and what to do; the `code` is that of Node's and Bun's own errors.

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

/** Makes the error for a value of another type than required. */
export function mustBe(name: string, what: string, code: Code = "ERR_INVALID_ARG_TYPE"): TypeError {
  return withCode(new TypeError(`${name} must be ${what}`), code);
}

/** Makes the error for a value of the right type that is not allowed. */
export function badValue(message: string): TypeError {
  return withCode(new TypeError(message), "ERR_INVALID_ARG_VALUE");
}

/** Makes the error for a number out of its range, or for a name that the standard reserves. */
export function outOfRange(message: string, code: Code = "ERR_INVALID_ARG_VALUE"): RangeError {
  return withCode(new RangeError(message), code);
}

/** Makes the error for an action that a state does not allow. */
export function cannot(action: string, why: string): TypeError {
  return withCode(new TypeError(`Cannot ${action}: ${why}`), "ERR_INVALID_STATE");
}

/** Makes the error for a call of a constructor whose objects only streams create. */
export function illegalConstructor(): TypeError {
  return withCode(new TypeError("Illegal constructor"), "ERR_ILLEGAL_CONSTRUCTOR");
}

/** Makes the error of a member that is called on an object of another class. */
export function wrongThis(name: string): TypeError {
  return withCode(new TypeError(`this must be a ${name} of @millrace/streams`), "ERR_INVALID_THIS");
}

/** Makes the error for a stream that a reader, a writer, a pipe or the runtime has locked. */
export function lockedError(action: string): TypeError {
  return cannot(action, "the stream is locked; release it");
}

export function releasedError(action: string, what: "reader" | "writer"): TypeError {
  return cannot(action, `the ${what} was released; get another one`);
}

/** Makes the error for a write to a stream that is closed, closing or errored. */
export function endedError(action: string, state: string): TypeError {
  return cannot(action, `the stream ${state === "errored" ? "has errored" : "is closed or closing"}`);
}

/** Makes the error for a controller whose stream has ended. Node's fetch recognizes such errors by these words. */
export function endedControllerError(action: string, state: string): TypeError {
  return cannot(action, state === "errored" ? "the stream has errored" : "Controller is already closed");
}
