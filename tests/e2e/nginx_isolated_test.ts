import { dirname } from "node:path";
import { noCurl } from "./same_tree/curl.ts";
import { noNginx, startNginx } from "./same_tree/nginx.ts";
import { testCodings } from "./same_tree/codings.ts";
import { testConditions } from "./same_tree/conditions.ts";
import { testDeltas } from "./same_tree/deltas.ts";
import { testPaths } from "./same_tree/paths.ts";
import { testRanges } from "./same_tree/ranges.ts";
import { compared, type Peer } from "./same_tree/same_tree.ts";
import { testTags } from "./same_tree/tags.ts";
import { listDeltas } from "./same_tree/recipe.ts";

const nginx: Peer = {
  start: (folder, tree) => startNginx("nginx.conf", folder, tree),
  precompressed: ["br", "gzip"],
  encodings: [
    undefined,
    "identity",
    "gzip",
    "br",
    "deflate",
    "gzip, br",
    "gzip, deflate, br, zstd",
    "gzip;q=0",
    "br;q=0, gzip",
    "gzip;q=0.5",
  ],
};

const withDeltas: Peer = {
  ...nginx,
  start: async (folder, tree) => {
    const list = await listDeltas(tree, dirname(folder), ";");
    return await startNginx("nginx_deltas.conf", folder, tree, { "/srv/dist.deltas": list });
  },
};

const plain = compared("nginx", noCurl || noNginx, nginx);
testCodings(plain);
testTags(plain);
testConditions(plain);
testRanges(plain);
testPaths(plain);
const deltas = compared("nginx with deltas", noCurl || noNginx, withDeltas);
testPaths(deltas);
testDeltas(deltas);
