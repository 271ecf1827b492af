/** A command of `millrace`. */
export interface Command {
  /** The text that `--help` prints. */
  readonly help: string;
  /**
   * Runs the command.
   *
   * @param words What the command line says, without the program's name.
   * @returns the exit status, or which text to print.
   * @throws {UsageError} if the words are off; other errors are failures.
   */
  readonly run: (words: readonly string[]) => Promise<number | "help" | "version">;
}
