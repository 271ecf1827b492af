import { runtime } from "../../support/runtime.ts";
import { type Group, groupsOf, platformGroups } from "./groups.ts";
import { readables, readableStates } from "./readables.ts";
import {
  bunPlaces,
  nodeModules,
  rareBunPlaces,
  rareNodePlaces,
  transformNodePlaces,
  writableNodePlaces,
} from "./server_places.ts";
import { transforms, transformStates } from "./transforms.ts";
import { writables, writableStates } from "./writables.ts";

/** The places that servers have. */
export const allGroups: readonly Group[] = [
  ...platformGroups,
  ...groupsOf("readable streams", readables, readableStates, { ...nodeModules, ...runtime === "bun" && bunPlaces }),
  ...groupsOf("readable streams", readables, readableStates, {
    ...rareNodePlaces,
    ...runtime === "bun" && rareBunPlaces,
  }, true),
  ...groupsOf("writable streams", writables, writableStates, writableNodePlaces),
  ...groupsOf("transform streams", transforms, transformStates, transformNodePlaces),
];
