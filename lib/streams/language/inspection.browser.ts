/** Does nothing: `util.inspect()` is not there in browsers. */
export function showInNode(): void {}
