import { Buffer } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32 } from "node:zlib";
import { S3Bucket, type S3BucketOptions } from "../../lib/s3/mod.ts";

/** A failure of a request. */
export type Fault =
  | {
    readonly status: number;
    readonly code?: string;
    readonly fields?: Readonly<Record<string, string>>;
    /** The promise that delays the response. */
    readonly before?: Promise<void>;
  }
  /** The connection ends, before or after the request was carried out. */
  | "reset"
  | "reset after"
  /** The store does not respond. */
  | "stall"
  /** The answer is cut: its document, or the object after some bytes. */
  | "torn"
  | { readonly cut: number }
  /** The response waits for a promise. */
  | { readonly until: Promise<void> }
  /** The request is carried out when a promise is fulfilled. */
  | { readonly before: Promise<void> }
  /** The connection ends, and the request is carried out when a promise is fulfilled. */
  | { readonly late: Promise<void> }
  /** The body stops as with "cut", but the connection stays open. */
  | { readonly pause: number }
  /** The request fails, with an error document and the status 200. */
  | "error in 200"
  /** A byte of the object is another. */
  | "flip";

/** A request, as faults are chosen by. */
export interface Asked {
  /** The number of requests before. */
  readonly index: number;
  readonly operation: string;
  readonly key: string;
  readonly query: URLSearchParams;
}

/** The rules of a store in addition to those common to all: sizes and numbers of parts and copies. */
export interface Rules {
  /** Whether all parts but the last must have one size, which the last one must not exceed. */
  readonly hasEqualParts?: boolean;
  /** The writes whose conditions are ignored: all, uploads in parts, or copies. */
  readonly ignoresConditions?: "all" | "parts" | "copies";
  /** The copies that ignore the condition for their source: those of parts, or all. */
  readonly ignoresSources?: "all" | "parts";
  /** The response to copying a part: refused with this status, or for 200, an empty part is stored. */
  readonly lacksCopyPart?: 200 | 400 | 501;
  /** Whether an object of 5 MiB or less can be copied into a part only as a whole. */
  readonly copiesSmallWhole?: boolean;
  /** Whether a copied part's checksum is that of the whole object, computed from its parts' checksums. */
  readonly tellsComposite?: boolean;
  /** Whether missing objects yield 403: the keys lack the right to list the bucket. */
  readonly hidesMissing?: boolean;
  /** Whether entity tags of objects uploaded in parts are independent of the parts. */
  readonly hasOpaqueTags?: boolean;
  /** Whether objects have no tags, and requests for them are refused. */
  readonly lacksTags?: boolean;
  /** Whether the credentials may not read tags. */
  readonly hidesTags?: boolean;
  /** Whether the bucket keeps versions of objects. */
  readonly keepsVersions?: boolean;
  /** Whether requests to delete several objects are refused. */
  readonly lacksDeleteObjects?: boolean;
  /** The limit of all objects and parts in bytes; deleting needs no space. */
  readonly quota?: number;
}

/** The rules of stores, according to their documentation. */
export const stores: Readonly<Record<"AWS" | "R2" | "B2" | "GCS" | "versitygw", Rules>> = {
  AWS: { copiesSmallWhole: true },
  R2: { hasEqualParts: true, ignoresConditions: "copies", ignoresSources: "parts", lacksTags: true },
  B2: { ignoresConditions: "all", ignoresSources: "all" },
  GCS: { ignoresConditions: "parts", hasOpaqueTags: true, lacksDeleteObjects: true },
  versitygw: { tellsComposite: true, ignoresConditions: "copies" },
};

/** An object of the store. */
export interface Kept {
  readonly bytes: Uint8Array;
  /** Its size, if it is sparse: there are no bytes then, so that tests of large objects need no memory. */
  readonly size?: number;
  readonly etag: string;
  /** Its header fields, and as `x-amz-tagging` its tags. */
  readonly fields: Readonly<Record<string, string>>;
  readonly modified: Date;
  readonly version?: string;
}

interface Part {
  readonly bytes: Uint8Array;
  /** Its size, if it is sparse. */
  readonly size?: number;
  readonly etag: string;
  readonly sums: Readonly<Record<string, string>>;
  readonly told?: string;
}

interface Upload {
  readonly key: string;
  readonly fields: Record<string, string>;
  readonly parts: Map<number, Part>;
  readonly initiated: Date;
}

const ID = "id";
const SECRET = "secret";
const BUCKET = "films";
/** The minimum size of a part but the last, in bytes. */
const LEAST = 5 * 2 ** 20;
const MOST_PARTS = 10_000;
/** The maximum size of a part, of an object in one request, and of a copy, in bytes. */
const MOST = 5 * 2 ** 30;
/** The size above which copies are sparse, in bytes. */
const SPARSE = 512 * 2 ** 20;

/** A store in memory that speaks the part of S3 in use here, checks signatures, and fails as set. */
export class FakeStore {
  readonly objects: Map<string, Kept> = new Map();
  /** All versions of objects, the newest last; undefined for removals. */
  readonly #versions = new Map<string, (Kept | undefined)[]>();
  readonly uploads: Map<string, Upload> = new Map();
  readonly asked: string[] = [];
  /** The requests with an invalid signature. */
  readonly refused: string[] = [];
  /** The highest number of concurrent requests. */
  most = 0;
  /** The number of objects or parts on one page of a listing. */
  page = 1000;
  /** The requests the store refuses, and its differences from other stores. */
  rules: Rules = {};
  /** The bytes of bodies received so far. */
  received = 0;
  /** The store's handling of a condition on DELETE: supported, ignored or refused. */
  deletesIfMatch: "known" | "ignored" | "refused" = "known";
  #fault: (asked: Asked) => Fault | undefined = () => undefined;
  #underWay = 0;
  #ids = 0;
  readonly #server: Server = createServer((req, res) => void this.take(req, res));
  readonly #buckets: S3Bucket[] = [];

  /** Starts it. */
  static async start(): Promise<FakeStore> {
    const store = new FakeStore();
    await new Promise<void>((resolve) => store.#server.listen(0, "127.0.0.1", resolve));
    return store;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Returns a client of the store. */
  bucket(options: Partial<S3BucketOptions> = {}): S3Bucket {
    const credentials = { accessKeyId: ID, secretAccessKey: SECRET };
    const bucket = new S3Bucket({ endpoint: this.endpoint, bucket: BUCKET, credentials, ...options });
    this.#buckets.push(bucket);
    return bucket;
  }

  /** Sets the failures of later requests. */
  fails(fault: (asked: Asked) => Fault | undefined): void {
    this.#fault = fault;
  }

  /** Stops it, and its clients. */
  async stop(): Promise<void> {
    for (const bucket of this.#buckets) await bucket.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Answers a request. */
  async take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.most = Math.max(this.most, ++this.#underWay);
    res.on("close", () => this.#underWay--);
    const url = new URL(req.url!, "http://store");
    const path = decodeURIComponent(req.url!.split("?")[0]);
    const key = path.slice(path.indexOf(`/${BUCKET}`) + `/${BUCKET}/`.length);
    const operation = operationOf(req.method!, key, url.searchParams, req);
    const fault = this.#fault({ index: this.asked.length, operation, key, query: url.searchParams });
    this.asked.push(`${operation} ${key}`.trim());
    if (fault === "stall") return;
    if (fault === "reset") return void req.socket.destroy();
    const body = await bodyOf(req).catch(() => undefined);
    if (body === undefined) return;
    this.received += body.length;
    if (typeof fault === "object" && "before" in fault) await fault.before;
    if (typeof fault === "object" && "late" in fault) {
      req.socket.destroy();
      await fault.late;
    }
    if (typeof fault === "object" && "status" in fault) {
      return answer(res, fault.status, fault.fields ?? {}, errorOf(fault.code ?? "InternalError"));
    }
    if (fault === "error in 200") return answer(res, 200, {}, errorOf("InternalError"));
    const wrong = wrongSignature(req, url, body);
    if (wrong !== undefined) {
      this.refused.push(`${operation} ${key}: ${wrong}`);
      return answer(res, 403, {}, errorOf("SignatureDoesNotMatch"));
    }
    const { status, fields = {}, text = "", bytes = Buffer.from(text) } = this.#carryOut(
      operation,
      key,
      url,
      req,
      body,
    );
    if (typeof fault === "object" && "until" in fault) await fault.until;
    if (fault === "reset after") return void req.socket.destroy();
    const torn = fault === "torn" ? Math.floor(bytes.length / 2) : undefined;
    const cut = typeof fault === "object" && "cut" in fault ? fault.cut : torn;
    if (cut !== undefined && bytes.length > 0) {
      // Torn documents come whole as far as HTTP goes: only a parser sees it.
      if (fault === "torn") return answer(res, status, fields, bytes.subarray(0, cut));
      res.writeHead(status, { ...fields, "content-length": String(bytes.length) });
      res.write(bytes.subarray(0, cut), () => req.socket.destroy());
      return;
    }
    if (typeof fault === "object" && "pause" in fault) {
      res.writeHead(status, { ...fields, "content-length": String(bytes.length) });
      res.write(bytes.subarray(0, fault.pause));
      return;
    }
    if (fault === "flip") bytes[0] ^= 1;
    answer(res, status, fields, req.method === "HEAD" ? undefined : bytes);
  }

  #carryOut(operation: string, key: string, url: URL, req: IncomingMessage, body: Buffer): Outcome {
    const query = url.searchParams;
    const upload = this.uploads.get(query.get("uploadId") ?? "");
    const { quota = Infinity } = this.rules;
    if (quota !== Infinity && req.method === "PUT" && this.#used() + body.length > quota) {
      return failure(403, "QuotaExceeded");
    }
    switch (operation) {
      case "PutObject": {
        const refused = this.#refusedBy(req, key, "all");
        if (refused !== undefined) return refused;
        return this.#keep(key, body, fieldsOf(req), `"${md5(body).toString("hex")}"`);
      }
      case "GetObject":
      case "HeadObject":
        return this.#read(key, req, query);
      case "DeleteObject":
        return this.#delete(key, req.headers["if-match"], query.get("versionId"));
      case "CopyObject": {
        const source = this.objects.get(sourceOf(req));
        if (source === undefined) return failure(404, "NoSuchKey");
        if (sizeOf(source) > MOST) return failure(400, "InvalidRequest");
        if (this.#isOther(req, source, "copies")) return failure(412, "PreconditionFailed");
        const refused = this.#refusedBy(req, key, "copies");
        if (refused !== undefined) return refused;
        const isOther = req.headers["x-amz-metadata-directive"] === "REPLACE";
        const { "x-amz-tagging": tags } = source.fields;
        const fields = isOther ? { ...fieldsOf(req), ...(tags && { "x-amz-tagging": tags }) } : source.fields;
        // A copy has one part, whatever the parts of its source.
        const etag = source.size === undefined ? `"${md5(source.bytes).toString("hex")}"` : source.etag;
        this.#keep(key, source.bytes, fields, etag, source.size);
        return document("CopyObjectResult", `<ETag>${etag}</ETag>`);
      }
      case "GetTags": {
        if (this.rules.lacksTags) return failure(501, "NotImplemented");
        if (this.rules.hidesTags) return failure(403, "AccessDenied");
        const tags = [...new URLSearchParams(this.objects.get(key)?.fields["x-amz-tagging"])];
        const list = tags.map(([key, value]) =>
          `<Tag><Key>${key}</Key><Value>${value.replaceAll("&", "&amp;")}</Value></Tag>`
        );
        return document("Tagging", `<TagSet>${list.join("")}</TagSet>`);
      }
      case "ListObjects":
        return this.#list(query);
      case "DeleteObjects":
        if (this.rules.lacksDeleteObjects) return failure(501, "NotImplemented");
        if (req.headers["content-md5"] !== md5(body).toString("base64")) return failure(400, "InvalidDigest");
        for (const [, key] of body.toString().matchAll(/<Key>(.*?)<\/Key>/g)) this.objects.delete(key);
        return document("DeleteResult", "");
      case "CreateUpload": {
        const id = `upload-${++this.#ids}`;
        this.uploads.set(id, { key, fields: fieldsOf(req), parts: new Map(), initiated: new Date() });
        return document("InitiateMultipartUploadResult", `<UploadId>${id}</UploadId>`);
      }
      case "ListUploads":
        return document(
          "ListMultipartUploadsResult",
          [...this.uploads].filter(([, { key }]) => key.startsWith(query.get("prefix") ?? "")).map((
            [id, { key, initiated }],
          ) =>
            `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`
          ).join("") + "<IsTruncated>false</IsTruncated>",
        );
    }
    if (upload === undefined || upload.key !== key) return failure(404, "NoSuchUpload");
    switch (operation) {
      case "PutPart":
      case "CopyPart": {
        const { lacksCopyPart } = this.rules;
        if (operation === "CopyPart" && lacksCopyPart === 200) return { status: 200, fields: { etag: '"empty"' } };
        if (operation === "CopyPart" && lacksCopyPart) return failure(lacksCopyPart, "NotImplemented");
        const range = /(\d+)-(\d+)/.exec(String(req.headers["x-amz-copy-source-range"]));
        const source = operation === "PutPart" ? undefined : this.objects.get(sourceOf(req));
        if (operation === "CopyPart" && source === undefined) return failure(404, "NoSuchKey");
        if (source !== undefined && this.#isOther(req, source, "parts")) return failure(412, "PreconditionFailed");
        const total = source === undefined ? body.length : sizeOf(source);
        if (range !== null && total <= LEAST && this.rules.copiesSmallWhole) return failure(400, "InvalidRequest");
        const [from, to] = range === null ? [0, total - 1] : [Number(range[1]), Number(range[2])];
        const size = to + 1 - from;
        const number = Number(query.get("partNumber"));
        if (number > MOST_PARTS) return failure(400, "InvalidArgument");
        if (size > MOST) return failure(400, "InvalidRequest");
        const hasSums = upload.fields["x-amz-checksum-algorithm"] !== undefined;
        if (!hasSums && toldSum(req).told !== undefined) return failure(400, "InvalidRequest");
        const isSparse = source?.size !== undefined;
        const bytes = isSparse ? new Uint8Array() : source?.bytes.slice(from, to + 1) ?? body;
        const part = {
          bytes,
          ...(isSparse && { size }),
          etag: `"${md5(bytes).toString("hex")}"`,
          sums: sumsOf(upload, bytes),
          ...toldSum(req),
        };
        upload.parts.set(number, part);
        if (operation === "CopyPart") {
          const composite = /-\d+"$/.test(source!.etag) ? `<ChecksumCRC32>3ivdEg==-1</ChecksumCRC32>` : "";
          const told = this.rules.tellsComposite ? composite : "";
          return document("CopyPartResult", `<ETag>${part.etag}</ETag>${told}`);
        }
        const sums = Object.entries(part.sums).map(([kind, sum]) => [`x-amz-checksum-${kind.toLowerCase()}`, sum]);
        return { status: 200, fields: { etag: part.etag, ...Object.fromEntries(sums) as Record<string, string> } };
      }
      case "ListParts":
        return listed(upload, query, this.page);
      case "AbortUpload":
        this.uploads.delete(query.get("uploadId")!);
        return { status: 204 };
      default:
        return this.#complete(query.get("uploadId")!, upload, req, body.toString());
    }
  }

  #delete(key: string, ifMatch: string | undefined, version: string | null): Outcome {
    if (version !== null) {
      const left = (this.#versions.get(key) ?? []).filter((kept) => kept?.version !== version);
      this.#versions.set(key, []);
      this.objects.delete(key);
      for (const kept of left) this.#set(key, kept);
      return { status: 204 };
    }
    if (ifMatch !== undefined && this.deletesIfMatch === "refused") return failure(501, "NotImplemented");
    const there = this.objects.get(key);
    if (ifMatch !== undefined && this.deletesIfMatch === "known") {
      if (there === undefined) return failure(404, "NoSuchKey");
      if (there.etag !== ifMatch) return failure(412, "PreconditionFailed");
    }
    this.#set(key, undefined);
    return { status: 204 };
  }

  /** Stores an object, or removes it. */
  #set(key: string, kept: Kept | undefined): void {
    if (this.rules.keepsVersions) this.#versions.set(key, [...(this.#versions.get(key) ?? []), kept]);
    if (kept === undefined) this.objects.delete(key);
    else this.objects.set(key, kept);
  }

  /** Returns the refusal of a request whose conditions do not hold. */
  #refusedBy({ headers }: IncomingMessage, key: string, kind: Rules["ignoresConditions"]): Outcome | undefined {
    const { ignoresConditions } = this.rules;
    if (ignoresConditions === "all" || ignoresConditions === kind) return undefined;
    const there = this.objects.get(key);
    const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = headers;
    if (ifNoneMatch === "*" && there !== undefined) return failure(412, "PreconditionFailed");
    if (ifMatch === undefined || there?.etag === ifMatch) return undefined;
    return there === undefined ? failure(404, "NoSuchKey") : failure(412, "PreconditionFailed");
  }

  /** Whether the source of a copy is another object than its condition requires, and the store looks at that. */
  #isOther({ headers }: IncomingMessage, { etag }: Kept, kind: "copies" | "parts"): boolean {
    const { ignoresSources } = this.rules;
    const tag = headers["x-amz-copy-source-if-match"];
    return tag !== undefined && tag !== etag && ignoresSources !== "all" && ignoresSources !== kind;
  }

  /** Bytes of all objects and parts. */
  #used(): number {
    let used = 0;
    for (const object of this.objects.values()) used += sizeOf(object);
    for (const { parts } of this.uploads.values()) for (const part of parts.values()) used += sizeOf(part);
    return used;
  }

  #keep(
    key: string,
    bytes: Uint8Array,
    fields: Readonly<Record<string, string>>,
    etag: string,
    size?: number,
  ): Outcome {
    const sparse = size === undefined ? {} : { size };
    const version = this.rules.keepsVersions && { version: `version-${++this.#ids}` };
    this.#set(key, { bytes: bytes.slice(), ...sparse, ...version, etag, fields, modified: new Date() });
    const sum = fields["x-amz-checksum-sha256"];
    return { status: 200, fields: { etag, ...(sum !== undefined && { "x-amz-checksum-sha256": sum }) } };
  }

  #read(key: string, req: IncomingMessage, query: URLSearchParams): Outcome {
    const object = this.objects.get(key);
    if (object === undefined) {
      return this.rules.hidesMissing ? failure(403, "AccessDenied") : failure(404, "NoSuchKey");
    }
    const { bytes, etag, fields, modified, version } = object;
    if (req.headers["if-match"] !== undefined && req.headers["if-match"] !== etag) {
      return failure(412, "PreconditionFailed");
    }
    const replaced = [...query].filter(([name]) => name.startsWith("response-"));
    const others = Object.fromEntries(replaced.map(([name, value]) => [name.slice("response-".length), value]));
    const { "x-amz-tagging": _tags, ...shown } = fields;
    const id = version && { "x-amz-version-id": version };
    const told = { ...shown, ...others, ...id, etag, "last-modified": modified.toUTCString() };
    if (req.method === "HEAD") return { status: 200, fields: { ...told, "content-length": String(sizeOf(object)) } };
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(req.headers.range ?? "") ?? [];
    if (from === undefined) {
      return {
        status: 200,
        fields: told,
        bytes: object.size === undefined ? Buffer.from(bytes) : Buffer.alloc(object.size),
      };
    }
    const size = sizeOf(object);
    if (Number(from) >= size) return failure(416, "InvalidRange");
    const end = to === "" ? size : Math.min(size, Number(to) + 1);
    const range = `bytes ${from}-${end - 1}/${size}`;
    return {
      status: 206,
      fields: { ...told, "content-range": range },
      bytes: object.size === undefined ? Buffer.from(bytes.slice(Number(from), end)) : Buffer.alloc(end - Number(from)),
    };
  }

  #list(query: URLSearchParams): Outcome {
    const all = [...this.objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "")).sort();
    const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter")];
    const shown = (key: string): string => {
      const at = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
      return at === -1 ? key : key.slice(0, at + delimiter!.length);
    };
    const keys = [...new Set(all.filter((key) => key > (query.get("start-after") ?? "")).map(shown))];
    const most = Math.min(this.page, Number(query.get("max-keys") ?? Infinity));
    const start = Number(query.get("continuation-token") ?? 0);
    const page = keys.slice(start, start + most).map((key) => {
      if (delimiter && key.endsWith(delimiter) && key.length > prefix.length) {
        return `<CommonPrefixes><Prefix>${encodeURIComponent(key)}</Prefix></CommonPrefixes>`;
      }
      const { etag, modified } = this.objects.get(key)!;
      const time = `<LastModified>${modified.toISOString()}</LastModified>`;
      return `<Contents><Key>${encodeURIComponent(key).replaceAll("%20", "+")}</Key>${time}<ETag>${etag}</ETag><Size>${
        sizeOf(this.objects.get(key)!)
      }</Size></Contents>`;
    });
    const isCut = start + most < keys.length;
    const next = isCut ? `<NextContinuationToken>${start + most}</NextContinuationToken>` : "";
    return document(
      "ListBucketResult",
      `<EncodingType>url</EncodingType><IsTruncated>${isCut}</IsTruncated>${next}${page.join("")}`,
    );
  }

  #complete(id: string, upload: Upload, req: IncomingMessage, text: string): Outcome {
    const refused = this.#refusedBy(req, upload.key, "parts");
    if (refused !== undefined) return refused;
    const named = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>(.*?)<\/Part>/g)];
    const parts: Part[] = [];
    for (const [, number, etag, sums] of named) {
      const part = upload.parts.get(Number(number));
      if (part?.etag !== etag.replaceAll("&quot;", '"')) return failure(400, "InvalidPart");
      for (const [, kind, sum] of sums.matchAll(/<Checksum(\w+)>(.*?)</g)) {
        if (part.sums[kind] !== sum) return failure(400, "InvalidArgument");
      }
      // Of an upload with checksums all parts have one.
      if (Object.keys(part.sums).length > 0 && !sums.includes("<Checksum")) return failure(400, "InvalidRequest");
      parts.push(part);
    }
    const sizes = parts.map(sizeOf);
    const [first] = sizes;
    const last = sizes.pop();
    if (first === undefined || last === undefined || parts.length > MOST_PARTS) return failure(400, "InvalidPart");
    if (sizes.some((size) => size < LEAST)) return failure(400, "EntityTooSmall");
    const isUneven = sizes.some((size) => size !== first) || last > first;
    if (this.rules.hasEqualParts && isUneven) return failure(400, "InvalidPart");
    const size = sizes.reduce((sum, size) => sum + size, last);
    const isSparse = size > SPARSE || parts.some((part) => part.size !== undefined);
    const joined = isSparse ? new Uint8Array() : Buffer.concat(parts.map(({ bytes }) => bytes));
    const hash = md5(Buffer.concat(parts.map(({ etag }) => Buffer.from(etag.slice(1, -1), "hex"))));
    const etag = this.rules.hasOpaqueTags ? `"${id}"` : `"${hash.toString("hex")}-${parts.length}"`;
    this.uploads.delete(id);
    this.#keep(upload.key, joined, upload.fields, etag, isSparse ? size : undefined);
    return document("CompleteMultipartUploadResult", `<ETag>${etag}</ETag>`);
  }

  /** Returns an upload in parts of which some are there, sparse. */
  sparseUpload(key: string, sizes: readonly number[]): string {
    const id = `upload-${++this.#ids}`;
    const bytes = new Uint8Array();
    const etag = `"${md5(bytes).toString("hex")}"`;
    const fields = { "x-amz-checksum-algorithm": "CRC32" };
    const upload: Upload = { key, fields, parts: new Map(), initiated: new Date() };
    for (const [index, size] of sizes.entries()) {
      upload.parts.set(index + 1, { bytes, size, etag, sums: sumsOf(upload, bytes) });
    }
    this.uploads.set(id, upload);
    return id;
  }
}

function sizeOf({ bytes, size = bytes.length }: Pick<Kept, "bytes" | "size">): number {
  return size;
}

interface Outcome {
  readonly status: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly bytes?: Buffer;
}

function operationOf(method: string, key: string, query: URLSearchParams, req: IncomingMessage): string {
  const isCopy = req.headers["x-amz-copy-source"] !== undefined;
  if (key === "" && query.has("delete")) return "DeleteObjects";
  if (key === "") return query.has("uploads") ? "ListUploads" : "ListObjects";
  if (method === "PUT") {
    if (query.has("partNumber")) return isCopy ? "CopyPart" : "PutPart";
    return isCopy ? "CopyObject" : "PutObject";
  }
  if (method === "POST") return query.has("uploads") ? "CreateUpload" : "CompleteUpload";
  if (method === "DELETE") return query.has("uploadId") ? "AbortUpload" : "DeleteObject";
  if (method === "HEAD") return "HeadObject";
  if (query.has("tagging")) return "GetTags";
  return query.has("uploadId") ? "ListParts" : "GetObject";
}

function listed(upload: Upload, query: URLSearchParams, most: number): Outcome {
  const marker = Number(query.get("part-number-marker") ?? 0);
  const parts = [...upload.parts].filter(([number]) => number > marker).sort(([a], [b]) => a - b);
  const page = parts.slice(0, most);
  const isCut = page.length < parts.length;
  const list = page.map(([number, part]) => {
    const { etag, sums } = part;
    const told = Object.entries(sums).map(([kind, sum]) => `<Checksum${kind}>${sum}</Checksum${kind}>`).join("");
    return `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${sizeOf(part)}</Size>${told}</Part>`;
  });
  const next = isCut ? `<NextPartNumberMarker>${page.at(-1)![0]}</NextPartNumberMarker>` : "";
  const kind = upload.fields["x-amz-checksum-algorithm"];
  const algorithm = kind === undefined ? "" : `<ChecksumAlgorithm>${kind}</ChecksumAlgorithm>`;
  return document("ListPartsResult", `<IsTruncated>${isCut}</IsTruncated>${next}${algorithm}${list.join("")}`);
}

/** Returns what is wrong with a signature (AWS Signature Version 4), by the specification; undefined if it is right. */
function wrongSignature(req: IncomingMessage, url: URL, body: Buffer): string | undefined {
  const [path, search = ""] = req.url!.split("?");
  const pairs = search === "" ? [] : search.split("&").map((pair) => pair.includes("=") ? pair : `${pair}=`);
  const isQuery = url.searchParams.has("X-Amz-Signature");
  const field = req.headers.authorization ?? "";
  const [, credential, names, signature] = isQuery
    ? ["", ...["Credential", "SignedHeaders", "Signature"].map((name) => url.searchParams.get(`X-Amz-${name}`)!)]
    : /^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(field) ?? [];
  if (credential === undefined) return `no signature: ${field}`;
  const [id, ...scope] = credential.split("/");
  if (id !== ID) return `another key: ${id}`;
  const date = isQuery ? url.searchParams.get("X-Amz-Date")! : String(req.headers["x-amz-date"]);
  const hash = isQuery ? "UNSIGNED-PAYLOAD" : String(req.headers["x-amz-content-sha256"]);
  const sum = req.headers["x-amz-checksum-crc32"];
  if (sum !== undefined && sum !== crc32Of(body)) return `the checksum of the body is another`;
  const isUnsigned = isQuery || (hash === "UNSIGNED-PAYLOAD" && sum !== undefined);
  if (!isUnsigned && hash !== sha256(body, "hex")) return `the hash of the body is another`;
  const canonical = [
    req.method,
    path.replaceAll("%2F", "/"),
    pairs.filter((pair) => !pair.startsWith("X-Amz-Signature=")).sort().join("&"),
    ...names.split(";").map((name) => `${name}:${String(req.headers[name]).trim()}`),
    "",
    names,
    hash,
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", date, scope.join("/"), sha256(Buffer.from(canonical), "hex")].join("\n");
  let key = Buffer.from(`AWS4${SECRET}`);
  for (const part of scope) key = createHmac("sha256", key).update(part).digest();
  const expected = createHmac("sha256", key).update(text).digest("hex");
  if (timingSafeEqual(Buffer.from(expected), Buffer.from(signature))) return undefined;
  return `the signature is not that of ${JSON.stringify(canonical)}`;
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function answer(
  res: ServerResponse,
  status: number,
  fields: Readonly<Record<string, string>>,
  bytes?: Uint8Array | string,
): void {
  res.writeHead(status, {
    "x-amz-request-id": "REQUEST-1",
    ...(bytes !== undefined && status !== 204 && { "content-length": String(Buffer.byteLength(bytes)) }),
    ...fields,
  });
  res.end(status === 204 ? undefined : bytes);
}

function fieldsOf(req: IncomingMessage): Record<string, string> {
  const kept = Object.entries(req.headers).filter(([name]) =>
    /^(?:content-type|cache-control|content-disposition|content-encoding|content-language|expires|x-amz-meta-.*|x-amz-checksum-sha256|x-amz-checksum-algorithm|x-amz-tagging)$/
      .test(name)
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

function sourceOf(req: IncomingMessage): string {
  return decodeURIComponent(String(req.headers["x-amz-copy-source"])).slice(`/${BUCKET}/`.length);
}

function document(name: string, content: string): Outcome {
  const text =
    `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${name}>`;
  return { status: 200, text };
}

function failure(status: number, code: string): Outcome {
  return { status, text: errorOf(code) };
}

function errorOf(code: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>in words</Message></Error>`;
}

/** Returns the kind of the checksum that a request announces. */
function toldSum(req: IncomingMessage): { told?: string } {
  const name = Object.keys(req.headers).find((name) => name.startsWith("x-amz-checksum-"));
  return name === undefined ? {} : { told: name.slice("x-amz-checksum-".length).toUpperCase() };
}

/** Returns the checksum of a part, of the kind that the upload was begun with. */
function sumsOf({ fields }: Upload, bytes: Uint8Array): Record<string, string> {
  const kind = fields["x-amz-checksum-algorithm"];
  if (kind === undefined) return {};
  return { [kind]: kind === "CRC32" ? crc32Of(bytes) : sha256(bytes, "base64") };
}

function crc32Of(bytes: Uint8Array): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum.toString("base64");
}

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest();
}

function sha256(bytes: Uint8Array, encoding: "hex" | "base64"): string {
  return createHash("sha256").update(bytes).digest(encoding);
}
