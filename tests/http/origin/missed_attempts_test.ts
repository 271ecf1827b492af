import assert from "node:assert/strict";
import test from "node:test";
import { MissedAttempts } from "../../../lib/http/origin/open_connection.ts";
import { pause, until } from "../../support/waits.ts";

test("MissedAttempts tries again after a pause, once for each that failed", async () => {
  let tries = 0;
  const missed = new MissedAttempts(60_000, () => void tries++);
  assert.equal(missed.pausing, false);
  assert.equal(missed.add(), true);
  assert.equal(missed.pausing, true);
  assert.equal(tries, 0);
  await until(() => tries === 1, "another try");
  assert.equal(missed.pausing, false);
  assert.equal(missed.add(), true);
  assert.equal(missed.add(), true); // both share a pause
  await until(() => tries === 2, "a third");
  await pause(300);
  assert.equal(tries, 2);
});

test("MissedAttempts gives up once its patience is over, and begins anew when a request was served", async () => {
  const missed = new MissedAttempts(20, () => {});
  assert.equal(missed.add(), true);
  await until(() => !missed.pausing, "the end of the pause"); // of 50 ms
  assert.equal(missed.add(), false);
  missed.clear();
  assert.equal(missed.add(), true);
  missed.clear();
});

test("MissedAttempts that are cleared try nothing", async () => {
  let tries = 0;
  const missed = new MissedAttempts(60_000, () => void tries++);
  missed.add();
  missed.clear();
  assert.equal(missed.pausing, false);
  await pause(150);
  assert.equal(tries, 0);
});
