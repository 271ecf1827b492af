export interface Mill {
  readonly name: string;
  readonly drive: "wind" | "water" | "tide";
  readonly turns: number;
}

const names = ["Abbey", "Bridge", "Castle", "Dyke", "Elm", "Ferry", "Grange", "Harbour", "Island", "Lock"];
const drives = ["wind", "water", "tide"] as const;

/** A page's data; replace it by your own. */
export const mills: readonly Mill[] = names.flatMap((name, i) => {
  return drives.map((drive, j) => ({ name: `${name} ${drive} mill`, drive, turns: 8 + (i * 7 + j * 5) % 30 }));
});
