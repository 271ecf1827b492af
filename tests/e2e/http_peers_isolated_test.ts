import { after, before } from "node:test";
import { testBursts } from "./http_peers/features/bursts.ts";
import { testCurl } from "./http_peers/features/curl.ts";
import { testNghttpd } from "./http_peers/features/nghttpd.ts";
import { testRequests } from "./http_peers/features/requests.ts";
import { testRestarts } from "./http_peers/features/restarts.ts";
import { testStreams } from "./http_peers/features/streams.ts";
import { testVerifiedClients } from "./http_peers/features/verified_clients.ts";
import { Peers } from "./http_peers/peers.ts";

const peers = new Peers();

before(() => peers.start());
after(() => peers.close());

for (const endpoint of peers.endpoints()) {
  testRequests(endpoint);
  testStreams(endpoint);
  testBursts(endpoint);
  testCurl(endpoint);
}
for (const endpoint of peers.verifying()) testVerifiedClients(endpoint);
for (const server of peers.restarting()) testRestarts(server);
testNghttpd("h2");
testNghttpd("h2c");
