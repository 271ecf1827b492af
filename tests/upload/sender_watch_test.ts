import assert from "node:assert/strict";
import test from "node:test";
import type { SaveBodyOptions } from "../../lib/upload/mod.ts";
import type { InnerOptions } from "../../lib/upload/body/upload_options.ts";
import { RateMonitor } from "../../lib/upload/body/receive_body.ts";

/** A watch over a pace that the test sets. */
class Watched {
  readonly pace = { bytes: 0, waited: 0 };
  readonly watch: RateMonitor;

  constructor(options: SaveBodyOptions & InnerOptions) {
    this.watch = new RateMonitor(this.pace, options);
  }

  /** Advances the time by `ms` in which the sender is late, and checks the rate at each interval. */
  wait(ms: number, bytesPerLook = 0): string | undefined {
    const { interval } = this.watch;
    for (let left = ms; left > 0; left -= interval) {
      this.pace.waited += Math.min(left, interval);
      this.pace.bytes += bytesPerLook;
      const failure = this.watch.look();
      if (failure) return failure.message;
    }
    return undefined;
  }
}

test("there is nothing to look for without a limit", () => {
  for (const options of [{}, { minRate: 0 }, { idleTimeout: Infinity }]) {
    assert.equal(new RateMonitor({ bytes: 0, waited: 0 }, options).interval, Infinity);
  }
});

test("a rate is judged when its window is full, and not before", () => {
  const sender = new Watched({ minRate: 1000 });
  assert.equal(sender.watch.interval, 3000);
  assert.equal(sender.wait(29_999, 1), undefined);
  assert.match(
    sender.wait(3000)!,
    /^The body comes too slowly: 10 bytes came in 3\d(\.\d)? s, and at least 1000 a second must$/,
  );
});

test("a rate that is enough begins a new window, for which what came before does not count", () => {
  const sender = new Watched({ minRate: 1000 });
  assert.equal(sender.wait(30_000, 3000), undefined);
  assert.equal(sender.wait(30_000, 300_000), undefined);
  assert.equal(sender.wait(27_000, 2999), undefined);
  assert.match(sender.wait(3000, 2999)!, /29990 bytes came in 30 s/);
});

test("bytes that come at once count for the whole of their window", () => {
  const sender = new Watched({ minRate: 1000 });
  for (let window = 0; window < 5; window++) {
    sender.pace.bytes += 30_000;
    assert.equal(sender.wait(30_000), undefined);
  }
});

test("time in which the sender does not keep us waiting does not count", () => {
  const sender = new Watched({ minRate: 1000, idleTimeout: 10_000 });
  for (let look = 0; look < 1000; look++) assert.equal(sender.watch.look(), undefined);
  assert.equal(sender.wait(9000), undefined);
  assert.equal(sender.wait(1000), "Nothing of the body was received for 10000 ms");
});

test("a look that comes late counts as two at most: the bytes may wait for us", () => {
  const sender = new Watched({ minRate: 1000, idleTimeout: 30_000 });
  for (let look = 0; look < 4; look++) {
    sender.pace.waited += 1_000_000;
    assert.equal(sender.watch.look(), undefined, `look ${look}`);
  }
  sender.pace.waited += 1_000_000;
  assert.equal(sender.watch.look()?.code, "TIMEOUT");
});

test("a sender may be silent for all of a longer idleTimeout, in which the rate is averaged then", () => {
  const sender = new Watched({ minRate: 1000, idleTimeout: 120_000 });
  assert.equal(sender.watch.interval, 12_000);
  for (let window = 0; window < 3; window++) {
    sender.pace.bytes += 120_000;
    assert.equal(sender.wait(120_000), undefined); // the first look finds the bytes, the others none
  }
  assert.equal(sender.wait(12_000), "Nothing of the body was received for 120000 ms");
});

test("a sender that sends a byte now and then is not silent, but too slow", () => {
  const sender = new Watched({ minRate: 1024, idleTimeout: 30_000 });
  assert.match(sender.wait(60_000, 1)!, /10 bytes came in 30 s, and at least 1024 a second must/);
  const unlimited = new Watched({ minRate: 0, idleTimeout: 30_000 });
  assert.equal(unlimited.wait(600_000, 1), undefined);
});
