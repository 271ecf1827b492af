import assert from "node:assert/strict";
import test from "node:test";
import { scriptReferences } from "../../lib/pages/mod.ts";

function loaded(script: string): string[] {
  return scriptReferences(script).map(({ kind, url, isLater }) => isLater ? `(${kind} ${url})` : `${kind} ${url}`);
}

test("scriptReferences() lists imports in every way to write them", () => {
  const script = `import "./a.js"; import b, { c as d, "e" as f } from './b.js'
    import*as g from"/c.js";import{h}from"../d.js";export*from"./e.js";export * as i from "./f.js"
    export{j,k as default}from"https://cdn.example/g.js";import l from "./h.json" with { type: "json" };
    import m from "./i.css" with{type:'css'}; import /* "./no.js" */ n // "./no.js"
    from "./j.js"; const o = await import(\`./k.js\`), p = () => import('./l.js', { with: { type: "json" } });
    import defer * as q from "./m.js"; import from from "./n.js"; import { from } from "./o.js"`;
  assert.deepEqual(loaded(script), [
    "script ./a.js",
    "script ./b.js",
    "script /c.js",
    "script ../d.js",
    "script ./e.js",
    "script ./f.js",
    "script https://cdn.example/g.js",
    "other ./h.json",
    "style ./i.css",
    "script ./j.js",
    "(script ./k.js)",
    "(other ./l.js)",
    "script ./m.js",
    "script ./n.js",
    "script ./o.js",
  ]);
});

test("scriptReferences() leaves out names of packages, and what is computed when it runs", () => {
  const script =
    `import "react"; import a from "@scope/b"; import("./" + c); import(\`./d\${e}.js\`); import(e); import.meta.url;
    import("./f.js" /* g */ + h); import("\\u002e/f.js"); import {} from "data:text/javascript,1"; import ""; import "#i"; export default "./j.js";
    export const k = "./l.js"; export { m }; "./n.js"; export default from; x.import("./o.js"); ({ import: "./p.js" })`;
  assert.deepEqual(loaded(script), []);
});

test("scriptReferences() sees nothing in comments, strings, templates and regular expressions", () => {
  const script = `// import "./a.js"
    /* import "./b.js" */ "import './c.js'"; 'import("./d.js")'; \`import "./e.js" \${ f("}") + \`\${ {} }import("./g.js")\` } import("./h.js")\`;
    /import "\\/i.js"[/"]/.test(j); k = l / m; n = (o) / p; if (q) /"import('.\\/r.js')/.exec(s); t[0] / u / import.meta;
    return /'/; v = w++ / 2; x = { y: /"/ } ; () => {}
    /'/.test(z); myimport("./aa.js"); $import("./ab.js"); import_("./ac.js"); \`\${import("./ad.js")}\`; import "./ae.js"`;
  assert.deepEqual(loaded(script), ["(script ./ad.js)", "script ./ae.js"]);
});

test("scriptReferences() ends with whatever breaks off", () => {
  const parts = [
    "import",
    "import ",
    "import {",
    "import { a }",
    "import { a } from",
    'import "./a',
    "import(",
    'import("./a"',
    "export * as",
  ];
  for (const part of [...parts, "/* ", "/a", "`${", "/[", "\\", '"\\', "import/**/", "import a from b", "import { 1"]) {
    assert.deepEqual(loaded(part), [], part);
  }
});

test("scriptReferences() reads texts with millions of escapes, dollars and comments", () => {
  const [many, sum] = [4_000_000, 'import "./a.js"'];
  for (
    const text of [
      `"${"\\a".repeat(many)}";`,
      `\`${"$".repeat(many)}\`;`,
      "//\n".repeat(many),
      `/*${"*".repeat(many)}/`,
    ]
  ) {
    assert.deepEqual(loaded(text + sum), ["script ./a.js"], text.slice(0, 9));
  }
});

test("scriptReferences() ends a string without an end at the first line end that no backslash is before", () => {
  assert.deepEqual(loaded("'a\\\nimport \"./b.js\"\nimport './c.js'"), ["script ./c.js"]);
});
