import { dirname } from "node:path";
import { noCaddy, startCaddy } from "./same_tree/caddy.ts";
import { noCurl } from "./same_tree/curl.ts";
import { testCodings } from "./same_tree/codings.ts";
import { testConditions } from "./same_tree/conditions.ts";
import { testDeltas } from "./same_tree/deltas.ts";
import { testPaths } from "./same_tree/paths.ts";
import { testRanges } from "./same_tree/ranges.ts";
import { compared, type Peer } from "./same_tree/same_tree.ts";
import { testTags } from "./same_tree/tags.ts";
import { listDeltas } from "./same_tree/recipe.ts";

const caddy: Peer = {
  start: (folder, tree) => startCaddy("Caddyfile", folder, tree),
  precompressed: ["zstd", "br", "gzip"],
  encodings: [
    undefined,
    "identity",
    "gzip",
    "br",
    "zstd",
    "deflate",
    "gzip, br",
    "gzip, deflate, br, zstd",
    "gzip;q=1.0, br;q=0.5",
    "br;q=0, gzip",
    "zstd;q=0.1, br;q=0.2",
  ],
};

const withDeltas: Peer = {
  ...caddy,
  start: async (folder, tree) => {
    const list = await listDeltas(tree, dirname(folder), "");
    return await startCaddy("Caddyfile_deltas", folder, tree, { "/srv/dist.deltas": list });
  },
};

const plain = compared("Caddy", noCurl || noCaddy, caddy);
testCodings(plain);
testTags(plain);
testConditions(plain);
testRanges(plain);
testPaths(plain);
const deltas = compared("Caddy with deltas", noCurl || noCaddy, withDeltas);
testPaths(deltas);
testDeltas(deltas);
