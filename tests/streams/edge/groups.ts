import { type Cell, cellsOf, type Kinds, type Places, type States } from "./cells.ts";
import { bodies, methods } from "./readable_places.ts";
import { destinations, destinationStates, nativePipes } from "./native_pipes.ts";
import { rarePlaces } from "./rare_places.ts";
import { readables, readableStates } from "./readables.ts";
import { transformPlaces, transforms, transformStates } from "./transforms.ts";
import { writablePlaces, writables, writableStates } from "./writables.ts";

/** The cells of a place. */
export interface Group {
  readonly name: string;
  readonly cells: readonly Cell[];
  /** Whether few programs use the place, so that the short form takes a part of the cells. */
  readonly isRare: boolean;
}

/** Returns a group for each place that takes streams of these kinds and states. */
export function groupsOf<Stream>(
  what: string,
  kinds: Kinds<Stream>,
  states: States<Stream>,
  places: Places<Stream>,
  isRare = false,
): Group[] {
  return Object.entries(places).map(([place, take]) => ({
    name: `${place} does with ${what} what it does with the runtime's own`,
    cells: cellsOf(kinds, states, { [place]: take }),
    isRare,
  }));
}

/** The places that browsers have, too. */
export const platformGroups: readonly Group[] = [
  ...groupsOf("readable streams", readables, readableStates, { ...bodies, ...methods }),
  ...groupsOf("readable streams", readables, readableStates, rarePlaces, true),
  ...groupsOf("writable streams", writables, writableStates, writablePlaces),
  ...groupsOf("writable streams", destinations, destinationStates, nativePipes, true),
  ...groupsOf("transform streams", transforms, transformStates, transformPlaces),
];
