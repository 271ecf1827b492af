/**
 * Returns a function that warns, and never throws: a warning comes where something fails, and what is left to do there has
 * to be done. Errors of `onWarning` are printed.
 */
export function warningTo(
  onWarning: (reason: string) => void = (reason) => console.warn(reason),
): (reason: string) => void {
  return (reason) => {
    try {
      onWarning(reason);
    } catch (error) {
      console.error(error);
    }
  };
}
