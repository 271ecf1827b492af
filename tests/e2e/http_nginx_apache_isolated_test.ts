import { after, before } from "node:test";
import { testKeepAlive } from "./http_peers/features/keep_alive.ts";
import { testNames } from "./http_peers/features/names.ts";
import { testRestarts } from "./http_peers/features/restarts.ts";
import { HardServers } from "./http_peers/hard_servers.ts";

const servers = new HardServers();

before(() => servers.start());
after(() => servers.close());

for (const server of servers.all()) {
  testKeepAlive(server);
  testNames(server);
  testRestarts(server);
}
