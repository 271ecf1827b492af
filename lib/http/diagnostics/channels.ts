import { type Channel, channel } from "node:diagnostics_channel";

/** The channels by which undici tells of a request, under the names that tools know. */
export const requestChannels: Readonly<Record<RequestStep, Channel>> = {
  create: channel("undici:request:create"),
  sendHeaders: channel("undici:client:sendHeaders"),
  bodySent: channel("undici:request:bodySent"),
  headers: channel("undici:request:headers"),
  trailers: channel("undici:request:trailers"),
  error: channel("undici:request:error"),
};

type RequestStep = "create" | "sendHeaders" | "bodySent" | "headers" | "trailers" | "error";

/** The channels by which undici tells of a connection. */
export const connectionChannels: Readonly<Record<ConnectionStep, Channel>> = {
  beforeConnect: channel("undici:client:beforeConnect"),
  connected: channel("undici:client:connected"),
  connectError: channel("undici:client:connectError"),
};

type ConnectionStep = "beforeConnect" | "connected" | "connectError";

const all = Object.values(requestChannels);
const allOfConnections = Object.values(connectionChannels);

/** Whether anybody listens to what becomes of requests. */
export function isRequestWatched(): boolean {
  for (let i = 0; i < all.length; i++) {
    if (all[i].hasSubscribers) return true;
  }
  return false;
}

/** Whether anybody listens to what becomes of connections. */
export function isConnectionWatched(): boolean {
  return allOfConnections.some(({ hasSubscribers }) => hasSubscribers);
}
