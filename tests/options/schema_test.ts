import assert from "node:assert/strict";
import test from "node:test";
import {
  anyOf,
  bool,
  bytes,
  func,
  integer,
  listOf,
  milliseconds,
  nearest,
  nested,
  number,
  oneOf,
  positive,
  requireOption,
  schema,
  type SchemaOf,
  secret,
  signal,
  text,
  wordOrFunction,
} from "../../lib/streams/internal.ts";
import { ourModules } from "../architecture/module_graph.ts";

interface Levels {
  readonly zstd?: number;
  readonly br?: number;
}

interface Options {
  readonly isStrict?: boolean;
  readonly size?: number;
  readonly share?: number;
  readonly limit?: number;
  readonly codings?: readonly ("br" | "zstd")[];
  readonly levels?: Levels;
  readonly index?: string | false;
  readonly filter?: (name: string) => boolean;
  readonly signal?: AbortSignal;
  readonly rate?: number;
  readonly delay?: number;
  readonly onFull?: "wait" | "drop" | "fail" | (() => boolean);
}

let loads = 0;
const levels: SchemaOf<Levels, "br"> = schema("open()", () => ({ zstd: integer(1, 22), br: integer(0, 11, 3) }));
const options: SchemaOf<Options, "isStrict" | "size" | "codings" | "index" | "delay" | "onFull"> = schema(
  "open()",
  () => {
    loads++;
    return {
      isStrict: bool(false),
      size: integer(1, Infinity, 16),
      share: number(0, 1),
      limit: bytes(),
      codings: listOf(oneOf(["br", "zstd"]), 'a list such as ["br"]', ["br"]),
      levels: nested(levels),
      index: anyOf([text(), oneOf([false])], "index.html"),
      filter: func<(name: string) => boolean>(),
      signal: signal(),
      rate: positive(),
      delay: milliseconds(5),
      onFull: wordOrFunction<() => boolean, "wait" | "drop" | "fail", "wait">(["wait", "drop", "fail"], "wait"),
    };
  },
);

test("schema() computes nothing before its first use", () => {
  assert.equal(loads, 0);
  options();
  options.check({ size: 3 });
  assert.equal(loads, 1);
});

test("a schema returns what is given, and the defaults of all other options", () => {
  const filter = (): boolean => true;
  const { signal } = new AbortController();
  const given = { size: 2, filter, signal, levels: { zstd: 3 }, limit: 1.5, index: false as const };
  assert.deepEqual(options(given), {
    isStrict: false,
    size: 2,
    share: undefined,
    limit: 1,
    codings: ["br"],
    levels: { zstd: 3, br: 3 },
    index: false,
    filter,
    signal,
    rate: undefined,
    delay: 5,
    onFull: "wait",
  });
  assert.equal(options({ size: Infinity }).size, Infinity);
  assert.equal(options({ size: undefined }).size, 16);
});

test("a list of options is a copy", () => {
  const codings: ("br" | "zstd")[] = ["zstd"];
  const checked = options({ codings });
  codings.push("br");
  assert.deepEqual(checked.codings, ["zstd"]);
});

const refused: readonly (readonly [unknown, RegExp, typeof TypeError | typeof RangeError])[] = [
  [null, /^the options of open\(\) must be an object, not null$/, TypeError],
  [[], /^the options of open\(\) must be an object, not an Array$/, TypeError],
  ["size", /^the options of open\(\) must be an object, not "size"$/, TypeError],
  [{ sise: 1 }, /^open\(\): unknown option "sise": did you mean "size"\?$/, TypeError],
  [{ ISSTRICT: true }, /did you mean "isStrict"\?$/, TypeError],
  [{ toString: 1 }, /^open\(\): unknown option "toString": use isStrict, size, share, /, TypeError],
  [{ isStrict: "false" }, /^isStrict must be true or false, not "false"$/, TypeError],
  [{ isStrict: null }, /^isStrict must be true or false, not null$/, TypeError],
  [{ size: "5" }, /^size must be a whole number from 1, not "5"$/, TypeError],
  [{ size: NaN }, /^size NaN is out of range: use a whole number from 1$/, RangeError],
  [{ size: 1.5 }, /^size 1\.5 is out of range/, RangeError],
  [{ share: 2 }, /^share 2 is out of range: use a number from 0 to 1$/, RangeError],
  [{ limit: -1 }, /^limit -1 is out of range: use a number of bytes from 0$/, RangeError],
  [{ codings: "br" }, /^codings must be a list such as \["br"\], not "br"$/, TypeError],
  [{ codings: ["br", "gz"] }, /^codings\[1\] must be "br" or "zstd", not "gz"$/, TypeError],
  [{ levels: { zsdt: 3 } }, /^open\(\): unknown option "levels\.zsdt": did you mean "zstd"\?$/, TypeError],
  [{ levels: { br: 12 } }, /^levels\.br 12 is out of range: use a whole number from 0 to 11$/, RangeError],
  [{ levels: [] }, /^levels must be an object, not an Array$/, TypeError],
  [{ index: true }, /^index must be a string or false, not true$/, TypeError],
  [{ filter: "*" }, /^filter must be a function, not "\*"$/, TypeError],
  [{ size: 5n }, /^size must be a whole number from 1, not the bigint 5$/, TypeError],
  [{ rate: 0 }, /^rate 0 is out of range: use a number above 0$/, RangeError],
  [{ delay: 2 ** 31 }, /^delay 2147483648 is out of range: use a number of ms from 0 to 2147483647$/, RangeError],
  [{ onFull: "block" }, /^onFull must be "wait", "drop", "fail" or a function, not "block"$/, TypeError],
  [{ signal: {} }, /^signal must be an AbortSignal, not an Object$/, TypeError],
];

for (const [given, message, constructor] of refused) {
  test(`a schema and its check() refuse ${typeof given === "object" ? JSON.stringify(given, (_, value) => typeof value === "bigint" ? `${value}n` : value) : String(given)}`, () => {
    for (const read of [() => options(given as Options), () => options.check(given as Options)]) {
      assert.throws(read, (error: Error) => {
        assert.equal(error.constructor, constructor);
        assert.match(error.message, message);
        return true;
      });
    }
  });
}

test("check() looks at accessors of a class, too", () => {
  class Given {
    get size(): unknown {
      return "5";
    }
  }
  assert.throws(() => options.check(new Given()), /^TypeError: size must be/);
});

test("check() returns what it checked: each option is read once, from where it is", () => {
  let reads = 0;
  const given = Object.defineProperty(
    {
      get size(): number {
        return ++reads === 1 ? 3 : NaN;
      },
    },
    "limit",
    { value: 2.5 },
  );
  assert.deepEqual(options.check<Options>(given), { size: 3, limit: 2 });
  const hidden = Object.defineProperty({}, "limit", { value: NaN });
  for (const read of [() => options(hidden), () => options.check(hidden)]) assert.throws(read, RangeError);
  assert.deepEqual(options.check<Options>(undefined), {});
});

test("a list with holes is refused", () => {
  for (const codings of [new Array(1), [, "br"]]) {
    assert.throws(
      () => options({ codings } as Options),
      /^TypeError: codings\[0\] must be "br" or "zstd", not undefined$/,
    );
  }
});

test("a module, and an object of any class, hold options", async () => {
  class Given {
    readonly size = 3;
    readonly [Symbol.toStringTag] = "Given";
  }
  assert.equal(options(new Given()).size, 3);
  assert.equal(options(Object.assign(Object.create(null), { size: 3 })).size, 3);
  assert.equal(options(await import("./given_module.ts")).size, 3);
});

test("objects of the language's own kinds are no options", () => {
  const kinds = [
    ...[Promise.resolve({ size: 1 }), new Map([["size", 1]]), new Headers(), new Uint8Array(0), new ArrayBuffer(8)],
    ...[new DataView(new ArrayBuffer(8)), new SharedArrayBuffer(8), new Date(), /a/, new TypeError("a"), new WeakMap()],
    ...[new WeakRef({}), Object(1), Object(true), Object("text")],
  ];
  for (const given of kinds) {
    for (const read of [() => options(given as object), () => options.check(given as object)]) {
      assert.throws(read, /^TypeError: the options of open\(\) must be an object, not a/);
    }
  }
});

test("names that a program added to all objects are no options", () => {
  const all = Object.prototype as unknown as Record<string, unknown>;
  all.each = (): void => {};
  Object.defineProperty(all, "then", { get: () => undefined, configurable: true });
  try {
    assert.equal(options({ size: 2 }).size, 2);
    assert.deepEqual(options.check<Options>({}), {});
    assert.throws(() => options({ each: 1 } as Options), /unknown option "each"/);
    all.size = 7; // also those of options
    assert.deepEqual(options.check<Options>({}), {});
    assert.equal(options({ size: 2 }).size, 2);
  } finally {
    delete all.size;
    delete all.then;
    delete all.each;
  }
});

test("messages describe values whose class has no name that is text", () => {
  const odd = { constructor: { name: Symbol("odd") } };
  assert.throws(
    () => options({ size: odd } as unknown as Options),
    /^TypeError: size must be a whole number from 1, not an object$/,
  );
});

test("nearest() finds the name that was meant, and none for another word", () => {
  const known = ["level", "windowLog", "dictionary"];
  for (const word of ["levle", "LEVEL", "lvel", "levell"]) assert.equal(nearest(word, known), "level", word);
  assert.equal(nearest("windowlog", known), "windowLog");
  assert.equal(nearest("quality", known), undefined);
  assert.equal(nearest("", known), undefined);
});

test("requireOption() returns what is given, and names what is not", () => {
  const checked = options({ share: 0.5 });
  assert.equal(requireOption(options, checked, "share"), 0.5);
  assert.throws(() => requireOption(options, checked, "limit", "outer."), {
    name: "TypeError",
    message: "open() needs the option outer.limit: a number of bytes from 0",
  });
});

test("a secret() is shown in no error", () => {
  const key = secret(text());
  assert.equal(key.check("k", "key"), "k");
  assert.throws(() => key.check(1234, "key"), { name: "TypeError", message: "key must be a string" });
});

test("members are made at their first use, and no module makes one when it loads", () => {
  const makers = "anyOf|bool|bytes|changed|func|integer|listOf|milliseconds|nested|number|oneOf|positive|text";
  const made = new RegExp(`^(?:export )?const [^=]+ = (?:/\\* @__PURE__ \\*/ )?(?:${makers})\\(`, "m");
  assert.match("const start = anyOf([integer(0, 9), oneOf([1])]);", made);
  assert.match("export const SIZE: Member<number, undefined> = /* @__PURE__ */ positive();", made);
  assert.doesNotMatch("const limits = schema('f()', () => ({ size: positive() }));", made);
  assert.deepEqual(ourModules().filter(({ code }) => made.test(code)).map(({ path }) => path), []);
});
