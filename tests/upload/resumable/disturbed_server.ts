import type { UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { type UploadEntry, UploadProcess } from "../faults/upload_process.ts";
import { CuttingRelay } from "./cutting_relay.ts";

/** The disturbances of an upload, at random moments. */
export interface Disturbances {
  /** Bytes of the upload. */
  readonly bytes: number;
  /** The number of times that its connection is cut. */
  readonly cuts: number;
  /** The number of times that the server is killed and restarted. */
  readonly kills: number;
}

/** The result of a disturbed upload. */
export interface Disturbed {
  readonly times: number;
  /** The total of received bytes, including repeated ones. */
  readonly received: number;
}

/**
 * Serves uploads by a process that is disturbed, while `use` uploads to the port that it is given.
 *
 * @param place The folder of uploads, or the options of their bucket as JSON.
 */
export async function withDisturbedServer(
  place: string,
  entry: UploadEntry,
  options: Partial<UploadHandlerOptions>,
  { bytes, cuts, kills }: Disturbances,
  use: (port: number) => Promise<void>,
): Promise<Disturbed> {
  let server = await UploadProcess.start(place, entry, options);
  const relay = await CuttingRelay.open(server.port);
  const planned = [
    ...Array.from({ length: cuts }, () => ({ at: Math.random(), how: "cut" })),
    ...Array.from({ length: kills }, () => ({ at: Math.random(), how: "kill" })),
  ].sort((a, b) => a.at - b.at);
  let times = 0;
  let restarting: Promise<void> | undefined;
  const restart = async (): Promise<void> => {
    await server.kill();
    relay.cut();
    server = await UploadProcess.start(place, entry, options);
    relay.target = server.port;
    restarting = undefined;
  };
  relay.onReceived = () => {
    if (restarting !== undefined || planned.length === 0 || relay.received < planned[0]!.at * bytes * 0.95) return;
    times++;
    if (planned.shift()!.how === "cut") relay.cut();
    else restarting = restart();
  };
  try {
    await use(relay.port);
    await restarting;
    return { times, received: relay.received };
  } finally {
    await relay.close();
    await server.stop();
  }
}
