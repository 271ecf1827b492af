import { randomNumbers } from "../support/random_numbers.ts";

type Random = (below: number) => number;

/** Ways to say "one folder up" that some decoder, somewhere, has taken for one. */
const ups = [
  "..",
  "%2e%2e",
  "%2E%2E",
  ".%2e",
  "%2e.",
  "%252e%252e",
  "%25252e%25252e",
  "%%32e%%32e",
  "%c0%ae%c0%ae",
  "\xc0\xae\xc0\xae",
  "%c0%2e%c0%2e",
  "%e0%80%ae%e0%80%ae",
  "%f0%80%80%ae%f0%80%80%ae",
  "%fc%80%80%80%80%ae",
  "%u002e%u002e",
  "%uff0e%uff0e",
  "%ef%bc%8e%ef%bc%8e",
  "%e2%80%a5",
  "%e2%80%a4%e2%80%a4",
  "..;",
  "..;a=b",
  "%2e%2e%3b",
  "..%00",
  "%00..",
  "..%20",
  "..%09",
  "..%0d%0a",
  "..%c2%a0",
  "..%3f",
  "..%23",
  "...",
  "....",
  "0x2e0x2e",
  "&#46;&#46;",
  "\\.\\.",
];

/** Ways to say "/". */
const separators = [
  "/",
  "//",
  "/./",
  "/%2e/",
  "/;/",
  "\\",
  "%2f",
  "%2F",
  "%5c",
  "%5C",
  "%252f",
  "%255c",
  "%25252f",
  "%c0%af",
  "\xc0\xaf",
  "%c1%9c",
  "%e0%80%af",
  "%u2215",
  "%u005c",
  "%e2%88%95",
  "%ef%bc%8f",
  "%ef%bc%bc",
  "%00/",
  "/\\",
];

const starts = [
  "/",
  "",
  "//",
  "\\",
  "/./",
  "/docs/",
  "/assets/",
  "/index.html/",
  "/nothing/",
  "/link-folder/",
  "/.well-known/",
  "%2f",
];

const goals = [
  "secret.txt",
  "site-secret/secret.txt",
  "site-secret/",
  "site.secret",
  "site/../secret.txt",
  "index.html",
  "docs/",
  "assets/app.js",
  "etc/passwd",
  "proc/self/environ",
  "dev/zero",
];

/** Names in the tree and beside it, and names from lists of well-known paths. */
const names = [
  ["link.txt", "link-absolute.txt", "link-folder", "link-folder/secret.txt", "link-folder-absolute/secret.txt"],
  ["link-sibling.txt", "link-up/secret.txt", "link-up/site-secret/secret.txt", "link-up/site/index.html"],
  ["link-to-root-of-all/etc/passwd", "link-roundabout.txt", "link-through-folder.txt", "chain-1.txt", "chain-2.txt"],
  ["docs/chain-3.txt", "docs/link-deep/secret.txt", "assets/app.js.br", "docs/index.html.zst", "page.html.gz"],
  ["index.html.br", "404.html", "zero", "zero.js", "null.js", "stdin.js", "environ.txt", "passwd.txt", "nowhere.txt"],
  ["loop-1", "loop-2/x", "docs/loop", "docs/loop/secret.txt", "docs/loop/docs/loop/docs/loop/index.html"],
  ["pipe", "pipe.js", "device", "socket", "empty", "empty/", "inside.html", "inside-folder/", "inside-absolute.html"],
  ["index.html", "docs/index.html", "p%61ge.html", "assets/app.js", "%61ssets/%61pp.js", "f%c3%bcnke/", "50%25/"],
  [
    "q%3fx/",
    "h%23x/",
    "docs/deep/",
    "docs/?/../x",
    "evil.example/page.html",
    "assets/app.4f3a9c1e.js#x",
    "page.html?%00",
  ],
  ["odd%22%5C*:%0d%0aset-cookie:%20b%e2%82%ac.4f3a9c1e.js", "bad%ff.js", "bad\xff.js", "bad%ef%bf%bd.js"],
  [".env", ".git/config", ".git/", ".git", "docs/.htpasswd", "docs/.svn/entries", ".millrace.json", ".well-known"],
  [".well-known/security.txt", ".well-known/../.env", ".well-known/..%2f.env", ".well-known%2f..%2f.env"],
  ["%2eenv", "%2e%65nv", ".env/", ".env%00", ".env%20", ".env.", "%2emillrace.json", ".MILLRACE.JSON", ".git%2fconfig"],
  ["docs/.millrace-1-00000000-0000-4000-8000-000000000000.tmp", "old.22222222.js", ".old.33333333.js"],
  [".millrace-999999-11111111-1111-4111-8111-111111111111.tmp", "linked.11111111.js", "linked/old.11111111.js"],
  ["secret.txt", "site-secret/secret.txt", "-secret/secret.txt", ".secret", "secret", "site", "site/index.html"],
  ["before/old.22222222.js", "before-secret/old.11111111.js", "old.11111111.js", "linked", "linked/"],
  [
    "index.html%00.png",
    "index.html%00",
    "index.html.",
    "index.html%20",
    "index.html::$DATA",
    "INDEX.HTML",
    "index~1.htm",
  ],
  ["docs", "docs/", "docs//", "docs/.", "docs/..", "docs/./", "docs/../", "docs/%2e", "docs/%2e%2e", "docs;", "docs;/"],
  ["f%c3%bcnke", "fu%cc%88nke", "f%fcnke", "f\xc3\xbcnke", "f%C3%BCnke/", "%e2%80%ae", "%ed%a0%80", "%ef%bb%bfdocs"],
  ["50%25", "50%", "50%2", "50%zz", "%", "%%", "%2", "%zz", "%u0041", "%0", "%00", "%FF%FE", "%f8%88%80%80%80"],
  ["%252e%252e/secret.txt", "%252e%252e", "..%252fsecret.txt", "..%5csecret.txt", "..;/secret.txt", ".../secret.txt"],
  ["a%0d%0aset-cookie:%20b", "a%0d%0aset-cookie:%20b/", "q%3fx", "h%23x", "http:", "http:/evil.example", "con", "nul"],
  ["__proto__", "constructor", "toString", "hasOwnProperty", "__proto__/index.html", "valueOf/", "undefined", "null"],
].flat();

/** Targets that could be mistaken for another origin, or name one; `%H` is a foreign host. */
const elsewhere = [
  ["//%H", "//%H/", "///%H", "////%H/", "//%H/docs", "//%H/page.html", "//%H/..", "//%H/%2e%2e", "/.//%H", "/..//%H"],
  [
    "/\\%H",
    "/\\/%H",
    "\\\\%H",
    "\\/%H",
    "/%5c%H",
    "/%5C%5C%H",
    "%5c%5c%H",
    "/%09/%H",
    "/%0a/%H",
    "/%0d%0a/%H",
    "/%2f%H",
  ],
  ["/%2f%2f%H", "%2f%2f%H", "/docs//%H", "/docs/..//%H", "/docs/%2e%2e//%H", "//%H:80/docs", "//user@%H/docs", "/@%H"],
  ["/;@%H", "/http://%H/docs", "/http:/%H", "/https:%H", "/%68ttp://%H", "/javascript:alert(1)", "/data:text/html,x"],
  [
    "http://%H",
    "http://%H/docs",
    "http://%H//%H/docs",
    "http://%H/page.html",
    "http://%H/..",
    "https://%H/../secret.txt",
  ],
  [
    "http://user:pw@%H/docs",
    "http://%H:99999/docs",
    "http://%H:x/docs",
    "http:///docs",
    "http:/docs",
    "http:docs",
    "http:",
  ],
  [
    "http://[::1]/docs",
    "http://[/docs",
    "http://[::1/docs",
    "http://%2e%2e/docs",
    "http://%00/docs",
    "http:\\\\%H\\docs",
  ],
  [
    "http://127.0.0.1\\@%H/docs",
    "http://127.0.0.1#@%H/docs",
    "http://127.0.0.1?@%H/docs",
    "HTTP://%H/docs",
    "ftp://%H/docs",
  ],
  [
    "file:///etc/passwd",
    "file://%H/docs",
    "javascript:alert(1)",
    "data:text/html,x",
    "%H:443",
    "%H",
    "docs",
    "*",
    "?",
    "#",
  ],
  [
    "/?//%H",
    "/docs?//%H",
    "/docs?/../secret.txt",
    "/docs#//%H",
    "/#/../../secret.txt",
    "/docs?\r\nlocation: //%H",
    "/?%00",
  ],
  [
    "/docs?%0d%0aset-cookie:b",
    "/docs?a\\b",
    '/docs?"><script>',
    "/docs?\x80\xff",
    "?/docs",
    "#/docs",
    "&/docs",
    ";/docs",
  ],
].flat().map((target) => target.replaceAll("%H", "evil.example"));

/**
 * Returns at least `count` hostile request targets, the same for the same seed. The targets are bytes: the code of each
 * character is a byte. Some are invalid as request targets.
 */
export function hostileTargets(count: number, seed: number): readonly string[] {
  const random = randomNumbers(seed);
  const targets = new Set([...elsewhere, ...named(), ...everyByte(), ...long()]);
  while (targets.size < count) targets.add(random(3) === 0 ? mutated([...elsewhere], random) : traversal(random));
  return [...targets];
}

function named(): string[] {
  return names.flatMap((name) => [`/${name}`, name, `//${name}`, `/x/../${name}`, `/docs/..%2f${name}`]);
}

function everyByte(): string[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const forms = bytes.flatMap((byte) => [`%${byte.toString(16).padStart(2, "0")}`, String.fromCharCode(byte)]);
  return forms.flatMap((form) => [`${form}/index.html`, `/docs${form}/`, `/index.html${form}`]);
}

/** Makes targets of the longest size: node:http takes 16 KiB of head. */
function long(): string[] {
  const parts = [
    "a",
    "/",
    "../",
    "%2e%2e/",
    "%2e%2e%2f",
    "..\\",
    "./",
    "%00",
    "%",
    "\xff",
    ";",
    "docs/",
    "docs/../",
    "%c0%ae/",
  ];
  return parts.flatMap((part) =>
    [1000, 15_000].flatMap((size) => {
      const run = part.repeat(size / part.length);
      return [`/${run}`, `/${run}secret.txt`, `/docs?${run}`];
    })
  );
}

function traversal(random: Random): string {
  const pick = <T>(of: readonly T[]): T => of[random(of.length)];
  const up = pick(ups);
  const separator = pick(separators);
  const depth = pick([1, 1, 1, 2, 2, 3, 6, 12]);
  const goal = random(4) === 0 ? pick(goals).replaceAll("/", separator) : pick(goals);
  const end = pick(["", "", "", "", "/", "%00", "?x", "#x", ";x", ".", " ", "%20"]);
  return pick(starts) + `${up}${separator}`.repeat(depth) + goal + end;
}

function mutated(targets: readonly string[], random: Random): string {
  const target = targets[random(targets.length)];
  const at = random(target.length + 1);
  const piece = [...ups, ...separators][random(ups.length + separators.length)];
  return target.slice(0, at) + piece + target.slice(at + random(2));
}
