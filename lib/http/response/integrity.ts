import { Buffer } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { HttpError } from "../http_error.ts";
import { BodyRelay } from "./body_relay.ts";
import type { ResponseBody } from "./response_body.ts";

type Algorithm = "sha256" | "sha384" | "sha512";

/** The stronger, the later. */
const algorithms: readonly string[] = ["sha256", "sha384", "sha512"] satisfies Algorithm[];

/** Equal to none. */
const NO_DIGEST = Buffer.alloc(0);

/** The digests of which a body must match one. */
interface Digests {
  readonly algorithm: Algorithm;
  readonly values: readonly Buffer[];
}

/**
 * A body that fails at its end with INTEGRITY_MISMATCH if it is not what `integrity` says; the same body if that says nothing that
 * we know.
 *
 * @param integrity Digests, as in `sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=`: of several, those of the strongest algorithm
 * count, and one of them has to fit.
 * @see {@link https://www.w3.org/TR/sri-2/}
 */
export function verifiedBody(body: ResponseBody, integrity: string, origin: string): ResponseBody {
  const digests = strongest(integrity);
  return digests === undefined ? body : new VerifyingRelay(body, digests, origin).body;
}

/** Whether `integrity` asks for a digest that we know, so that a response without a body cannot be what it says. */
export function asksForDigest(integrity: string): boolean {
  return strongest(integrity) !== undefined;
}

/** The digests of the strongest algorithm; undefined if there is none that we know. One that is malformed is no body's. */
function strongest(integrity: string): Digests | undefined {
  let best = -1;
  let values: Buffer[] = [];
  for (const word of integrity.split(/[\t\n\f\r ]+/)) {
    const [, algorithm, value] = /^(sha256|sha384|sha512)(?:-([^?]*))?(?:\?.*)?$/i.exec(word) ?? [];
    if (algorithm === undefined) continue;
    const strength = algorithms.indexOf(algorithm.toLowerCase());
    if (strength < best) continue;
    if (strength > best) values = [];
    best = strength;
    values.push(/^[A-Za-z0-9+/_-]+={0,2}$/.test(value ?? "") ? Buffer.from(value, "base64") : NO_DIGEST);
  }
  return best < 0 ? undefined : { algorithm: algorithms[best] as Algorithm, values };
}

class VerifyingRelay extends BodyRelay {
  readonly #digests: Digests;
  readonly #origin: string;
  readonly #hash: Hash;

  constructor(source: ResponseBody, digests: Digests, origin: string) {
    super(source);
    this.#digests = digests;
    this.#origin = origin;
    this.#hash = createHash(digests.algorithm);
  }

  protected override step(): boolean {
    const chunk = this.source.take();
    if (chunk !== undefined) {
      this.#hash.update(chunk);
      this.give(chunk);
      return true;
    }
    if (this.source.isDone) this.#verify();
    else this.source.want(this);
    return false;
  }

  protected override release(): void {
    // nothing is held
  }

  #verify(): void {
    const digest = this.#hash.digest();
    const { algorithm, values } = this.#digests;
    if (values.some((value) => digest.equals(value))) {
      this.body.end();
      return;
    }
    const found = `${algorithm}-${digest.toString("base64")}`;
    const message = `The response's body is not what integrity says: its digest is ${found}`;
    this.fail(new HttpError("INTEGRITY_MISMATCH", message, { origin: this.#origin }));
  }
}
