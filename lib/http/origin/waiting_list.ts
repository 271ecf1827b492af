import type { PooledConnection } from "./pooled_connection.ts";

/** A request that an origin finds a connection for. */
export interface WaitingRequest {
  /** Neighbours in the list; only {@link WaitingList} sets them. */
  previousWaiting: WaitingRequest | undefined;
  nextWaiting: WaitingRequest | undefined;
  /** The room it waits in; undefined if it does not wait. */
  waitingAt: WaitingRoom | undefined;
  /** The host that it is for, without brackets; a connection's certificate has to be good for it. */
  readonly host: string;
  /** Whether it may share an HTTP/1.1 connection with others: it is idempotent and has no body. */
  readonly pipelinable: boolean;
  /** There is room on a connection: the request is to start at once. */
  startOn(pooled: PooledConnection): void;
  /**
   * No connection could be made.
   *
   * @param origin Which it was to be to: not the request's own, if it waits for a session of another.
   */
  onNoConnection(error: unknown, origin: string): void;
}

/** A place in which requests wait. */
export interface WaitingRoom {
  /** Forgets a request that waits there. */
  withdraw(request: WaitingRequest): void;
}

/** Requests in their order. Any can leave at once, as those do that are aborted. */
export class WaitingList {
  /** How many there are. */
  length = 0;
  /** The next to go. */
  first: WaitingRequest | undefined = undefined;
  #last: WaitingRequest | undefined = undefined;
  readonly #room: WaitingRoom;

  constructor(room: WaitingRoom) {
    this.#room = room;
  }

  /** Adds one at the end. */
  push(request: WaitingRequest): void {
    request.waitingAt = this.#room;
    request.previousWaiting = this.#last;
    if (this.#last === undefined) this.first = request;
    else this.#last.nextWaiting = request;
    this.#last = request;
    this.length++;
  }

  /** Adds one at the front: it waited before. */
  unshift(request: WaitingRequest): void {
    request.waitingAt = this.#room;
    request.nextWaiting = this.first;
    if (this.first === undefined) this.#last = request;
    else this.first.previousWaiting = request;
    this.first = request;
    this.length++;
  }

  /** Removes a request from any place in the list. */
  remove(request: WaitingRequest): void {
    const { previousWaiting, nextWaiting } = request;
    if (previousWaiting === undefined) this.first = nextWaiting;
    else previousWaiting.nextWaiting = nextWaiting;
    if (nextWaiting === undefined) this.#last = previousWaiting;
    else nextWaiting.previousWaiting = previousWaiting;
    request.previousWaiting = undefined;
    request.nextWaiting = undefined;
    request.waitingAt = undefined;
    this.length--;
  }
}
