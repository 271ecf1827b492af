import { Buffer } from "node:buffer";
import { randomFillSync } from "node:crypto";
import { pause } from "../../support/waits.ts";
import { isLong } from "../../support/long_run.ts";
import { type UploadAnswer, UploadConnection } from "./upload_connection.ts";
import { chunked, digestField, form, formType, head, sha256 } from "./upload_messages.ts";

/** The bytes that every body is a slice of. */
export const content: Buffer = randomFillSync(Buffer.alloc(3_000_000));

/** The options of good uploads. */
export interface GoodUploadsOptions {
  /** Refusing statuses that are accepted; such uploads must not be stored. Default: none. */
  readonly refusals?: readonly number[];
  /** The size of the largest upload in bytes. Default: 1,500,000. */
  readonly largest?: number;
}

const sizes = [0, 1, 1000, 65_536, 300_001, 1_500_000];

let instances = 0;

/** Valid uploads, one after the other, that run beside invalid ones. */
export class GoodUploads {
  /** The SHA-256 of each file that must be stored by now, by name. */
  readonly files: Map<string, string> = new Map();
  /** The number of requests that were answered with 201. */
  answered = 0;
  /** The number of requests refused with an accepted status. */
  refused = 0;
  readonly #name = `good-${++instances}`;
  readonly #port: number;
  readonly #refusals: readonly number[];
  readonly #sizes: readonly number[];
  readonly #lanes: Promise<void>[];
  #isOver = false;
  #count = 0;

  /**
   * Begins.
   *
   * @param lanes The number of concurrent uploads.
   */
  constructor(port: number, lanes: number, { refusals = [], largest = Infinity }: GoodUploadsOptions = {}) {
    this.#port = port;
    this.#refusals = refusals;
    this.#sizes = sizes.filter((size) => size <= largest);
    this.#lanes = Array.from({ length: lanes }, () => this.#repeat());
    for (const lane of this.#lanes) lane.catch(() => {}); // reported by end()
  }

  /** Waits for the current uploads, and sends no more. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lanes);
  }

  /** Sends one more. */
  async one(): Promise<void> {
    const number = this.#count++;
    const size = this.#sizes[number % this.#sizes.length];
    const start = (number * 7919) % (content.length - size);
    const bytes = content.subarray(start, start + size);
    if (number % 3 === 2) return await this.#post(bytes);
    await this.#put(`${this.#name}-${number}.bin`, bytes, number % 3 === 1);
  }

  async #repeat(): Promise<void> {
    while (!this.#isOver) {
      await this.one();
      await pause(isLong ? 5 : 60);
    }
  }

  async #put(name: string, bytes: Uint8Array, isChunked: boolean): Promise<void> {
    const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
    const fields = [length, digestField(bytes, "sha-256"), "Connection: close"];
    const body = isChunked ? chunked(bytes) : bytes;
    const answer = await this.#exchange(head("PUT", `/${name}`, fields), body);
    if (answer) this.files.set(name, sha256(bytes));
  }

  /** Two files in a form, as a whole with its length. */
  async #post(bytes: Uint8Array): Promise<void> {
    const other = content.subarray(0, 1 + bytes.length % 777);
    const body = form({ first: bytes, second: other });
    const answer = await this.#exchange(head("POST", "/", [formType, `Content-Length: ${body.length}`]), body);
    if (!answer) return;
    const { files } = JSON.parse(answer.body) as { files: { name: string; field: string }[] };
    for (const { name, field } of files) this.files.set(name, sha256(field === "first" ? bytes : other));
  }

  async #exchange(head: string, body: Uint8Array): Promise<UploadAnswer | undefined> {
    const connection = await UploadConnection.open(this.#port);
    try {
      await connection.send(head) && await connection.sendAll(body);
      const answer = await connection.answer();
      if (answer?.status === 201) {
        this.answered++;
        return answer;
      }
      if (answer && this.#refusals.includes(answer.status)) {
        this.refused++;
        return undefined;
      }
      throw new Error(`a good upload was answered with ${answer?.status} ${answer?.body}: ${head}`);
    } finally {
      connection.leave();
    }
  }
}
