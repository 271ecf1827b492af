import type { Duplex } from "node:stream";

/**
 * Waits for an event of a socket.
 *
 * @throws the socket's error, or undefined if it ended without one.
 */
export function socketEvent(socket: Duplex, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void): void => {
      socket.off(name, onEvent).off("error", onError).off("close", onClose);
      settle();
    };
    const onEvent = (): void => done(resolve);
    const onError = (error: Error): void => done(() => reject(error));
    const onClose = (): void => done(() => reject(socket.errored ?? undefined));
    if (socket.destroyed) return reject(socket.errored ?? undefined);
    socket.on(name, onEvent).on("error", onError).on("close", onClose);
  });
}
