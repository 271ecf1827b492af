import { after, before } from "node:test";
import { testBursts } from "./http_peers/features/bursts.ts";
import { testRequests } from "./http_peers/features/requests.ts";
import { testStreams } from "./http_peers/features/streams.ts";
import { Peers } from "./http_peers/peers.ts";

const peers = new Peers();

before(() => peers.start());
after(() => peers.close());

for (const endpoint of peers.endpoints()) {
  testRequests(endpoint);
  testStreams(endpoint);
  testBursts(endpoint);
}
