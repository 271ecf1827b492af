/** Waits until promises that need only microtasks have settled. */
export async function microtasks(): Promise<void> {
  for (let count = 0; count < 12; count++) await undefined;
}

/** Waits for the end of the event loop's current turn, with its microtasks. */
export async function turn(): Promise<void> {
  await microtasks(); // their effects belong to the same turn
  await new Promise((resolve) => setImmediate(resolve));
  await microtasks();
}

/** Waits for several turns: a batch may wait longer than one turn for a producer that proved fast. */
export async function turns(count = 3): Promise<void> {
  for (let left = count; left > 0; left--) await turn();
}

/** The states of promises, each under a name: "pending", "fulfilled", or "rejected: " and the reason. */
export class Outcomes {
  readonly #outcomes: Record<string, string> = {};

  watch(name: string, promise: Promise<unknown>): void {
    this.#outcomes[name] = "pending";
    promise.then(
      () => void (this.#outcomes[name] = "fulfilled"),
      (error) => void (this.#outcomes[name] = `rejected: ${error}`),
    );
  }

  /** Writes chunks from one number to another, each under its own name. */
  write(writer: Pick<WritableStreamDefaultWriter<number>, "write">, from: number, to: number): void {
    for (let chunk = from; chunk <= to; chunk++) this.watch(String(chunk), writer.write(chunk));
  }

  of(name: string): string {
    return this.#outcomes[name];
  }

  /** Names by outcome, in the order in which they were given. */
  get all(): Record<string, string> {
    const names: Record<string, string> = {};
    for (const [name, outcome] of Object.entries(this.#outcomes)) {
      names[outcome] = names[outcome] === undefined ? name : `${names[outcome]} ${name}`;
    }
    return names;
  }
}

/** Whether a promise is pending, fulfilled or rejected now. */
export async function statusOf(promise: Promise<unknown>): Promise<"pending" | "fulfilled" | "rejected"> {
  let status: "pending" | "fulfilled" | "rejected" = "pending";
  promise.then(() => void (status = "fulfilled"), () => void (status = "rejected"));
  await microtasks();
  return status;
}

/** Returns the integers from one to another. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
