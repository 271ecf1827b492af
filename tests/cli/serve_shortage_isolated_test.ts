import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import test from "node:test";
import { inFolder, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";
import { pause, until } from "../support/waits.ts";
import { command } from "./serving.ts";

/** The limit of descriptors, and the connections that take more. */
const [LIMIT, CONNECTIONS] = [100, 200];

test(
  "serve goes on once connections that took all descriptors have ended",
  { skip: needs("shell") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "index.html": "page" });
      const words = command(["serve", folder, "--port", "0", "--no-watch"]);
      const child = spawn("sh", ["-c", `ulimit -n ${LIMIT}; exec "$@"`, "sh", ...words], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let told = "";
      child.stdout.on("data", (chunk) => told += chunk);
      const held: Socket[] = [];
      try {
        await until(() => /at (http:\S+)/.test(told), "the server");
        const url = /at (http:\S+)/.exec(told)![1];
        const port = Number(new URL(url).port);
        for (let i = 0; i < CONNECTIONS; i++) held.push(connect(port, "127.0.0.1").on("error", () => {}));
        await pause(500); // what the server does meanwhile shows in nothing
        for (const socket of held) socket.destroy();
        let text = "";
        for (let tries = 0; tries < 100 && text !== "page"; tries++) {
          text = await fetch(url, { headers: { connection: "close" } }).then((response) => response.text(), () => "");
          if (text !== "page") await pause(100);
        }
        assert.equal(text, "page");
        assert.equal(child.exitCode, null);
      } finally {
        for (const socket of held) socket.destroy();
        child.kill();
      }
    }),
);
