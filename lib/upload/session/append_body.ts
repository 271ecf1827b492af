import type { Announced } from "../body/announced.ts";
import type { BodySource } from "../body/body_source.ts";
import { Digester } from "../body/digester.ts";
import { receiveBody } from "../body/receive_body.ts";
import type { InnerOptions, ReceiveOptions } from "../body/save_options.ts";
import type { DigestAlgorithm } from "../../semantics/mod.ts";
import type { SessionHold } from "./session_storage.ts";

/**
 * Appends a body to a session as it comes in: each batch is written while the next one is read. What came before a
 * failure is kept.
 *
 * @param take Called with each batch that was written, while its memory is in use.
 * @throws {UploadError} if the body is refused or fails, as of `saveBody()`.
 */
export async function appendBody(
  hold: SessionHold,
  source: BodySource,
  announced: Announced,
  options: ReceiveOptions & InnerOptions,
  take: (pieces: readonly Uint8Array[]) => void = () => {},
): Promise<void> {
  const { body } = receiveBody(source, { ...options, decode: false }, announced);
  try {
    let pieces = await body.read();
    while (pieces !== undefined) {
      const writing = hold.append(pieces);
      const reading = body.read();
      reading.catch(() => {}); // told by the next turn, unless the write fails
      await writing;
      take(pieces);
      body.release();
      pieces = await reading;
    }
  } catch (error) {
    await body.cancel(error);
    throw error;
  } finally {
    await hold.settle();
  }
}

/** The digests of all data of a session, in base64. */
export async function digestsOf(
  hold: SessionHold,
  algorithms: Iterable<DigestAlgorithm>,
): Promise<Map<DigestAlgorithm, string>> {
  const digester = new Digester(algorithms);
  for await (const piece of hold.read()) digester.update([piece]);
  return digester.finish();
}
