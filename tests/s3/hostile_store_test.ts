import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { inspect } from "node:util";
import { S3Bucket, type S3Error } from "../../lib/s3/mod.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { within } from "../support/waits.ts";
import { document, withAnswers } from "./scripted_store.ts";

const TIME = "2026-01-02T03:04:05.000Z";
const ENTRY = `<Contents><Key>a</Key><Size>1</Size><ETag>"e"</ETag><LastModified>${TIME}</LastModified></Contents>`;
const TAGGED = { etag: '"e"', "last-modified": "Fri, 02 Jan 2026 03:04:05 GMT" };

/** Sends a piece over and over, until the connection is closed. */
function endless(res: ServerResponse, piece: string | Uint8Array): void {
  const go = (): void => {
    while (!res.destroyed && res.write(piece));
  };
  res.on("drain", go);
  go();
}

const lists: Readonly<Record<string, (bucket: S3Bucket) => Promise<unknown>>> = {
  ListBucketResult: (bucket) => Array.fromAsync(bucket.list()),
  ListPartsResult: (bucket) => bucket.resume("a", "upload"),
  ListMultipartUploadsResult: (bucket) => bucket.removeAbandoned(),
};

const pages: Readonly<Record<string, (page: number) => string>> = {
  "repeats for ever": () =>
    "<NextContinuationToken>t</NextContinuationToken><NextPartNumberMarker>1</NextPartNumberMarker>" +
    "<NextKeyMarker>k</NextKeyMarker>",
  "goes in circles": (page) =>
    `<NextContinuationToken>${page % 3}</NextContinuationToken>` +
    `<NextPartNumberMarker>${page % 3}</NextPartNumberMarker><NextKeyMarker>k${page % 3}</NextKeyMarker>`,
  "is missing": () => "",
};

for (const [name, list] of Object.entries(lists)) {
  for (const [title, page] of Object.entries(pages)) {
    test(`${name}: a list fails whose name for the next page ${title}`, async () => {
      let count = 0;
      await withAnswers((_req, res) => {
        res.end(document(name, `<IsTruncated>true</IsTruncated>${page(count++)}`));
      }, async ({ bucket, asked }) => {
        await assert.rejects(list(bucket()), { name: "S3Error", code: "MALFORMED_RESPONSE" });
        assert.ok(asked.length < 20, `${asked.length} requests`);
      });
    });
  }
  test(`${name}: a document that never ends fails, and so does one that drips`, async () => {
    await withAnswers((_req, res) => {
      res.write(`<${name}>`);
      endless(res, " ".repeat(65_536));
    }, ({ bucket }) => assert.rejects(list(bucket()), { name: "S3Error", code: "MALFORMED_RESPONSE" }));
    await withAnswers((_req, res) => {
      const timer = setInterval(() => res.write(" "), 5);
      res.on("close", () => clearInterval(timer));
    }, ({ bucket }) => assert.rejects(list(bucket({ timeout: 40 })), { name: "S3Error", code: "TIMEOUT" }));
  });
}

const entries: Readonly<Record<string, string>> = {
  "no key": ENTRY.replace("<Key>a</Key>", ""),
  "no size": ENTRY.replace("<Size>1</Size>", ""),
  "a size that is none": ENTRY.replace("<Size>1", "<Size>-1"),
  "no time": ENTRY.replace(/<LastModified>.*<\/LastModified>/, ""),
  "a key that is not encoded as it says": `<EncodingType>url</EncodingType>${ENTRY.replace("a</Key>", "%zz</Key>")}`,
};

for (const [title, entry] of Object.entries(entries)) {
  test(`list() fails where an object has ${title}`, () =>
    withAnswers(
      (_req, res) => void res.end(document("ListBucketResult", entry)),
      ({ bucket }) => assert.rejects(lists.ListBucketResult(bucket()), { name: "S3Error", code: "MALFORMED_RESPONSE" }),
    ));
}

test("keys that XML cannot represent are stored in parts, and a list of them fails", () =>
  withAnswers((req, res) => {
    const key = "<Key>a&#x7;&#31;\u0001</Key>";
    if (req.method === "GET") return void res.end(document("ListBucketResult", ENTRY.replace("<Key>a</Key>", key)));
    if (req.method === "PUT") return void res.writeHead(200, { etag: '"e"' }).end();
    const isBegin = req.url!.endsWith("?uploads");
    const content = isBegin ? "<UploadId>1</UploadId>" : '<ETag>"e-2"</ETag>';
    res.end(document(`${isBegin ? "Initiate" : "Complete"}MultipartUploadResult`, `${key}${content}`));
  }, async ({ bucket }) => {
    const film = bucket().writable("a\u0007\u001f\u0001");
    await new Blob([new Uint8Array(9 * 2 ** 20)]).stream().pipeTo(film);
    assert.equal(film.stored!.etag, '"e-2"');
    await assert.rejects(lists.ListBucketResult(bucket()), { code: "MALFORMED_RESPONSE" });
  }));

test("an upload whose id is unreadable is begun once", () =>
  withAnswers(
    (_req, res) => void res.end(document("InitiateMultipartUploadResult", "<UploadId>")),
    async ({ bucket, asked }) => {
      const film = bucket({ retries: 3 }).writable("a");
      const piped = new Blob([new Uint8Array(9 * 2 ** 20)]).stream().pipeTo(film);
      await assert.rejects(piped, { code: "MALFORMED_RESPONSE" });
      assert.deepEqual(asked, ["POST /films/a?uploads"]);
    },
  ));

test("a failure that is reported after the status 200 has the status of its code", () =>
  withAnswers(
    (_req, res) => void res.end(`  \n${document("Error", "<Code>PreconditionFailed</Code>")}`),
    async ({ bucket }) => {
      const putting = bucket().put("a", "b", { overwrite: false });
      await assert.rejects(putting, { code: "PreconditionFailed", status: 412 });
    },
  ));

test("keys that a store refuses before their expiration are asked for again, also by a call that has no document", () =>
  withAnswers((req, res) => {
    if (/Credential=old/.test(req.headers.authorization!)) return void res.writeHead(400).end();
    res.writeHead(200, { ...TAGGED, "content-length": "1" }).end();
  }, async ({ bucket, asked }) => {
    let given = 0;
    const expiration = new Date(Date.now() + 3_600_000);
    const credentials = () => ({ accessKeyId: given++ === 0 ? "old" : "new", secretAccessKey: "s", expiration });
    const one = bucket({ credentials });
    assert.equal((await one.head("a"))!.size, 1);
    assert.equal((await one.head("a"))!.size, 1);
    assert.deepEqual([given, asked.length], [2, 3]);
  }));

test("entities of documents make nothing larger", () =>
  withAnswers((_req, res) => {
    const bomb = ["a", ...Array.from({ length: 9 }, (_, i) => `e${i}`)].map((name, i, names) =>
      `<!ENTITY ${name} "${i === 0 ? "lol" : `&${names[i - 1]};`.repeat(10)}">`
    ).join("");
    res.end(`<!DOCTYPE x [${bomb}]><ListBucketResult><Prefix>&e8;</Prefix></ListBucketResult>`);
  }, ({ bucket }) => assert.rejects(lists.ListBucketResult(bucket()), { code: "MALFORMED_RESPONSE" })));

const ranges: Readonly<Record<string, string>> = {
  "another first byte": "bytes 0-3/10",
  "more bytes": "bytes 2-6/10",
  "fewer bytes": "bytes 2-4/10",
  "no size": "bytes 2-5/*",
  "a size before its end": "bytes 2-5/4",
  "nothing of the kind": "2-5",
};

for (const [title, range] of Object.entries(ranges)) {
  test(`readable() fails when the store sends a range with ${title}`, () =>
    withAnswers(
      (_req, res) => void res.writeHead(206, { ...TAGGED, "content-range": range }).end("2345"),
      async ({ bucket }) => {
        const { readable } = { readable: bucket().readable("a", { range: { start: 2, end: 6 } }) };
        await assert.rejects(new Response(readable).text(), { name: "S3Error", code: "MALFORMED_RESPONSE" });
      },
    ));
}

const changes: Readonly<Record<string, { readonly etag: string; readonly size: number }>> = {
  "another entity tag": { etag: '"f"', size: 10 },
  "another size": { etag: '"e"', size: 11 },
};

for (const [title, { etag, size }] of Object.entries(changes)) {
  test(`readable() does not go on with an object of ${title}, where a store does not know If-Match`, () =>
    withAnswers((req, res) => {
      if (req.headers.range === undefined) {
        res.writeHead(200, { ...TAGGED, "content-length": "10" });
        return void res.write("01234", () => setTimeout(() => res.destroy(), 20));
      }
      res.writeHead(206, { ...TAGGED, etag, "content-range": `bytes 5-${size - 1}/${size}` }).end("x".repeat(size - 5));
    }, async ({ bucket }) => {
      const reading = new Response(bucket({ retries: 2 }).readable("a")).text();
      await assert.rejects(reading, { name: "S3Error", code: "OBJECT_CHANGED" });
    }));
}

test("readable() fails when the object has not the entity tag that ifMatch asks for, whatever the store knows", () =>
  withAnswers(
    (_req, res) => void res.writeHead(200, { ...TAGGED, "content-length": "10" }).end("0123456789"),
    async ({ bucket }) => {
      const read = (ifMatch: string): Promise<string> => new Response(bucket().readable("a", { ifMatch })).text();
      assert.equal(await read('"e"'), "0123456789");
      assert.equal(await read("e"), "0123456789");
      assert.equal(await read("*"), "0123456789");
      await assert.rejects(read('"f"'), { name: "S3Error", code: "OBJECT_CHANGED" });
    },
  ));

test("readable() leaves no connection behind whose answer it cannot use", () =>
  withAnswers((_req, res) => {
    res.writeHead(200, { "content-length": "1000000000" });
    endless(res, new Uint8Array(65_536));
  }, async ({ bucket, open }) => {
    await assert.rejects(new Response(bucket().readable("a")).text(), { code: "MALFORMED_RESPONSE" });
    assert.equal(open() <= 1, true); // withAnswers() sees that it ends
  }));

for (const own of ["the own fetch", "another fetch"]) {
  test(`redirects are not followed, so that signatures and tokens go to no other host, with ${own}`, () =>
    withAnswers((_req, res) => void res.end(), (other) =>
      withAnswers((_req, res) => {
        const fields = { location: `${other.endpoint}/films/a`, "x-amz-bucket-region": "eu-north-1" };
        res.writeHead(res.req.method === "PUT" ? 307 : 301, fields);
        res.end(document("Error", "<Code>PermanentRedirect</Code><Message>elsewhere</Message>"));
      }, async (store) => {
        const bucket = store.bucket(own === "the own fetch" ? {} : { fetch: (url, init) => fetch(url, init) });
        const acts = [() => bucket.head("a"), () =>
          bucket.put("a", "b"), () =>
          new Response(bucket.readable("a")).text()];
        for (const act of acts) {
          await assert.rejects(act, (error: S3Error) => {
            assert.equal(error.name, "S3Error");
            assert.match(error.message, /eu-north-1/);
            return true;
          });
        }
        assert.deepEqual(other.asked, []);
      })));
}

test("no error shows keys or tokens, and no text of the store changes lines or colours", () =>
  withAnswers((_req, res) => {
    res.writeHead(403, { "x-amz-request-id": "r".repeat(5000) });
    const text = "a\u0085b\nc\td";
    res.end(
      document("Error", `<Code>Evil\nCode${"x".repeat(1000)}</Code><Message>${text}${"m".repeat(5000)}</Message>`),
    );
  }, async ({ bucket }) => {
    const one = bucket();
    await assert.rejects(one.put("a", "b"), (error: S3Error) => {
      assert.equal(error.code, "AccessDenied");
      assert.match(error.message, /a b c d/);
      assert.ok(error.message.length < 600 && error.requestId!.length <= 300, error.message);
      assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /s3cr3t|t0ken/);
      return true;
    });
    assert.doesNotMatch(inspect(one, { depth: 9, showHidden: true }), /s3cr3t|t0ken/);
    await one.close();
    await assert.rejects(bucket({ endpoint: "http://127.0.0.1:2" }).put("a", "b"), (error: S3Error) => {
      assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /s3cr3t|t0ken/);
      return true;
    });
    assert.throws(() => bucket({ endpoint: "https://user:passw0rd@s3.example.com" }), (error: Error) => {
      assert.equal(error.name, "TypeError");
      assert.doesNotMatch(error.message, /passw0rd/);
      return true;
    });
  }));

test("the longest timeout is not the shortest", () =>
  withAnswers((req, res) => {
    const etag = "<ETag>e</ETag>";
    setTimeout(() => {
      if (req.headers["x-amz-copy-source"]) res.end(document("CopyObjectResult", etag));
      else res.writeHead(200, { ...TAGGED, ...(req.method === "HEAD" && { "content-length": "1" }) }).end();
    }, 30);
  }, async ({ bucket }) => {
    const patient = bucket({ timeout: 2 ** 31 - 1 });
    await patient.put("a", "b");
    await patient.copy("a", "b");
  }));

test("an attempt has its time anew with each piece of a part that the store takes, and no more", async () => {
  const MIB = 2 ** 20;
  const time = 30_000 + 24 * 8 * 1000;
  let [steps, isSilent] = [0, false];
  const take = async (req: IncomingMessage): Promise<void> => {
    let taken = 0;
    for await (const { length } of req) {
      taken += length;
      // The last MiB may all be in buffers.
      if (taken < (steps + 1) * 4 * MIB || steps === 3) continue;
      steps++;
      clock.turn(isSilent ? time + 1 : time * 0.7);
    }
  };
  const server = createServer((req, res) => {
    if (req.method === "POST") return void res.end(document("InitiateMultipartUploadResult", "<UploadId>u</UploadId>"));
    take(req).then(() => res.writeHead(200, TAGGED).end(), () => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  using clock = new FakeClock();
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: "id", secretAccessKey: "s3cr3t" };
  const bucket = new S3Bucket({ endpoint, bucket: "films", credentials, retries: 0 });
  const stored = async (): Promise<void> => {
    const writer = bucket.writable("a", { size: 8000 * 24 * MIB }).getWriter();
    await writer.write(new Uint8Array(24 * MIB));
    await writer.close();
  };
  try {
    // Only the answer to the completion is missing.
    await assert.rejects(within(stored(), "a slow part"), { code: "MALFORMED_RESPONSE" });
    assert.equal(steps, 3);
    [steps, isSilent] = [0, true];
    await assert.rejects(within(stored(), "a silent store"), { code: "TIMEOUT" });
    assert.ok(steps < 3, `${steps} steps`);
  } finally {
    await bucket.close();
    server.close().closeAllConnections();
  }
});

test("a failed upload is aborted by one request to a store that has become silent, and by several to one that answers", () =>
  withAnswers((req, res) => {
    if (req.method === "POST") res.end(document("InitiateMultipartUploadResult", "<UploadId>u</UploadId>"));
    else if (req.method === "PUT") res.writeHead(403).end();
    else if (req.url!.includes("busy")) res.writeHead(503).end();
  }, async ({ asked, bucket }) => {
    for (const [key, times] of [["silent", 1], ["busy", 3]] as const) {
      const writer = bucket({ timeout: 300, retries: 2 }).writable(key).getWriter();
      const writing = writer.write(new Uint8Array(9 * 2 ** 20)).then(() => writer.close());
      await assert.rejects(writing, { code: "AccessDenied" });
      assert.equal(asked.filter((line) => line.startsWith(`DELETE /films/${key}`)).length, times);
    }
  }));

test("close() ends the pause before another attempt", () =>
  withAnswers((_req, res) => void res.writeHead(503, { "retry-after": "20" }).end(), async ({ bucket, asked }) => {
    const one = bucket({ retries: 3 });
    const looking = assert.rejects(one.head("a"), { code: "CLOSED" });
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const start = performance.now();
    await one.close();
    await looking;
    assert.ok(performance.now() - start < 10_000, "it waited for the attempt");
  }));

test("an error with the status 200 is a failure of delete(), too", () =>
  withAnswers(
    (_req, res) => void res.end(document("Error", "<Code>AccessDenied</Code>")),
    ({ bucket }) => assert.rejects(bucket().delete("a"), { name: "S3Error", code: "AccessDenied" }),
  ));

test("head() keeps metadata of any name", () =>
  withAnswers(
    (_req, res) => void res.writeHead(200, { ...TAGGED, "x-amz-meta-__proto__": "p", "content-length": "0" }).end(),
    async ({ bucket }) => {
      assert.deepEqual(Object.entries((await bucket().head("a"))!.metadata!), [["__proto__", "p"]]);
    },
  ));

for (const hours of [-26, 3]) {
  test(`requests are signed by the clock of a store that is ${hours} hours ahead`, () => {
    const now = () => Date.now() + hours * 3_600_000;
    const asked: string[] = [];
    return withAnswers((req, res) => {
      const signed = String(req.headers["x-amz-date"] ?? new URL(req.url!, "http://a").searchParams.get("X-Amz-Date"));
      asked.push(signed);
      const time = Date.parse(signed.replace(/(....)(..)(..T..)(..)(..Z)/, "$1-$2-$3:$4:$5"));
      const isRight = Math.abs(time - now()) < 60_000;
      const date = new Date(now()).toUTCString();
      res.writeHead(isRight ? 200 : 403, { ...TAGGED, date, "content-length": "0" }).end();
    }, async ({ bucket, endpoint }) => {
      const one = bucket();
      assert.equal((await one.head("a"))?.size, 0);
      await one.delete("a");
      assert.equal(asked.length, 3, "it learns the time once");
      assert.equal((await fetch(await one.presign("a"))).status, 200);
      const other = bucket({ endpoint, credentials: () => ({ accessKeyId: "id", secretAccessKey: "s" }) });
      await Promise.all([other.head("a"), other.head("b"), other.head("c")]);
    });
  });
}

test("a store that refuses and tells ever another time is asked twice", () => {
  let days = 0;
  return withAnswers(
    (_req, res) => void res.writeHead(403, { date: new Date(Date.now() + ++days * 86_400_000).toUTCString() }).end(),
    async ({ bucket, asked }) => {
      await assert.rejects(bucket({ retries: 3 }).head("a"), { name: "S3Error", code: "AccessDenied" });
      assert.equal(asked.length, 2);
    },
  );
});

test("what is not there is removed, however a store says so", () =>
  withAnswers(
    (req, res) => {
      if (req.method !== "GET") return void res.writeHead(404).end("no page of this name");
      const upload = "<Key>a</Key><UploadId>1</UploadId><Initiated>2020-01-01T00:00:00Z</Initiated>";
      res.end(document("ListMultipartUploadsResult", `<Upload>${upload}</Upload>`));
    },
    async ({ bucket }) => {
      await bucket().delete("a");
      assert.equal(await bucket().removeAbandoned(), 1);
    },
  ));

for (const retries of [0, 1, 3]) {
  test(`retries: ${retries}: a store that cuts every connection sees 1 + retries attempts, whatever the client below has`, () =>
    withAnswers((req) => void req.socket.destroy(), async ({ bucket, asked }) => {
      for (const act of ["head", "readable", "put"] as const) {
        asked.length = 0;
        const one = bucket({ retries });
        const ended = act === "head"
          ? one.head("a")
          : act === "put"
          ? one.put("a", "bytes")
          : new Response(one.readable("a")).text();
        await assert.rejects(ended);
        assert.equal(asked.length, 1 + retries, act);
      }
    }));
}
