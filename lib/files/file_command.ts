/** A request of a stream's own method, which waits among the chunks for its turn. */
export class FileCommand {
  readonly kind: "flush" | "rotate" | "reopen";

  constructor(kind: FileCommand["kind"]) {
    this.kind = kind;
  }
}
