/** Does nothing: browsers have no `util.inspect()`. */
export function showInNode(): void {}
