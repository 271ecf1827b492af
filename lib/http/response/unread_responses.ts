import { Timer } from "../../timers/mod.ts";
import type { BodyObserver, ResponseBody } from "./response_body.ts";

/** How often is looked for responses that take their time, in ms. */
const INTERVAL = 1000;

/**
 * A response whose body is still on its way. Most are read in no time, and to register each with the garbage collector would cost
 * more than to make it: only those that are older than a second or two are. Until then they are held here.
 */
class YoungResponse implements BodyObserver {
  response: object | undefined;
  readonly body: ResponseBody;
  readonly #round: number;
  #previous: YoungResponse | undefined;
  #next: YoungResponse | undefined = undefined;

  constructor(response: object, body: ResponseBody) {
    this.response = response;
    this.body = body;
    this.#round = round;
    this.#previous = last;
    if (last === undefined) first = this;
    else last.#next = this;
    last = this;
  }

  onOver(): void {
    if (this.response === undefined) return;
    this.response = undefined;
    if (this.#previous === undefined) first = this.#next;
    else this.#previous.#next = this.#next;
    if (this.#next === undefined) last = this.#previous;
    else this.#next.#previous = this.#previous;
    // What is old and still points to what is young would keep that alive: a fifth of the CPU, and more.
    this.#previous = undefined;
    this.#next = undefined;
  }

  get isOld(): boolean {
    return this.#round < round;
  }
}

/** A body that a registry holds. It would hold one that is over for ever, if that leads to its stream (Bun: 7 KB each). */
class RegisteredBody implements BodyObserver {
  readonly #body: ResponseBody;
  readonly #before: BodyObserver | undefined;

  constructor(body: ResponseBody, before: BodyObserver | undefined) {
    this.#body = body;
    this.#before = before;
  }

  onOver(): void {
    streams.unregister(this.#body);
    responses.unregister(this.#body);
    this.#before?.onOver();
  }
}

let first: YoungResponse | undefined = undefined;
let last: YoungResponse | undefined = undefined;
let round = 0;
const timer = new Timer(grow, { keepsAlive: false });

/** Cancels the body of a response that nobody can read any more. */
export function watchResponse(response: object, body: ResponseBody): void {
  body.observer = new YoungResponse(response, body);
  if (!timer.isSet) timer.start(INTERVAL);
}

/** The same of a stream that reads a body. */
export function watchStream(stream: object, body: ResponseBody): void {
  streams.register(stream, body, body);
  body.observer = new RegisteredBody(body, body.observer);
}

function grow(): void {
  while (first?.isOld) {
    const { response, body } = first;
    responses.register(response!, body, body);
    if (body.observer === first) body.observer = new RegisteredBody(body, undefined);
    first.onOver();
  }
  round++;
  if (first !== undefined) timer.start(INTERVAL);
}

/** A body that was taken has a stream or another reader, which may live longer than the response. */
const responses = new FinalizationRegistry<ResponseBody>((body) => {
  if (!body.isTaken) body.cancel(abandoned());
});

const streams = new FinalizationRegistry<ResponseBody>((body) => body.cancel(abandoned()));

function abandoned(): TypeError {
  return new TypeError("Nobody can read the response any more: it was dropped before its end");
}
