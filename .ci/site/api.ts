import type { Callable, Declaration, Doc, Exported, Kind, Member, Module, Tag } from "./deno_doc.ts";
import { menu, type MenuGroup, type Sheet } from "./layout.ts";
import { codeBlock, escaped, type Heading, type Places, render } from "./markdown.ts";
import { hrefTo } from "./pages.ts";
import { type Entry, plain } from "./search_index.ts";
import { memberText, methodText, propertyText, signatureOf, typeText } from "./signature.ts";

const INDEX = "api/index.html";
const NAME = "@millrace/streams";

/** The words for the kinds of names, in the order of pages. */
const KINDS: Readonly<Record<Kind, string>> = {
  class: "Classes",
  function: "Functions",
  variable: "Values",
  interface: "Interfaces",
  typeAlias: "Types",
};

/** The reference of the public API: a page for each subpath, and one that lists them. */
export class Reference {
  readonly #modules: readonly Module[];
  readonly #places: Places;
  /**
   * The subpath whose page describes a declaration: the first that exports it, except `.`, which exports everything.
   */
  readonly #homes: ReadonlyMap<Declaration, string>;
  readonly entries: Entry[] = [];

  constructor(modules: readonly Module[], places: Places) {
    this.#modules = modules;
    this.#places = places;
    const homes = new Map<Declaration, string>();
    for (
      const { subpath, symbols } of modules.toSorted((a, b) => Number(a.subpath === ".") - Number(b.subpath === "."))
    ) {
      for (const { declarations } of symbols) {
        if (!homes.has(declarations[0])) homes.set(declarations[0], subpath);
      }
    }
    this.#homes = homes;
  }

  /** Returns the pages. */
  sheets(): Sheet[] {
    return [this.#index(), ...this.#modules.map((module) => this.#sheet(module))];
  }

  #menu(output: string): string {
    const links = this.#modules.map(({ subpath }) => ({ words: subpath, to: outputOf(subpath) }));
    const groups: MenuGroup[] = [{ name: "Reference", links: [{ words: "All subpaths", to: INDEX }, ...links] }];
    return menu(groups, output, "Reference");
  }

  #index(): Sheet {
    const items = this.#modules.map(({ subpath, doc, symbols }) => {
      const link = `<a href="${hrefTo(INDEX, outputOf(subpath))}"><code>${specifier(subpath)}</code></a>`;
      const words = firstSentence(this.#markdown(doc.doc, subpath, INDEX));
      const names = symbols.filter(({ declarations: [{ kind }] }) => kind === "class" || kind === "function");
      const shown = subpath === "." ? [] : names.slice(0, 12).map((one) => this.#link(one, subpath, INDEX));
      const more = names.length > shown.length && shown.length > 0 ? " …" : "";
      return `<li><h2>${link}</h2>\n<p>${words}</p>\n<p class="names">${shown.join(" ")}${more}</p></li>`;
    });
    return {
      output: INDEX,
      title: "API reference",
      description: `Every name that ${NAME} exports.`,
      kind: "guide",
      aside: this.#menu(INDEX),
      body: `<h1>API reference</h1>
<p class="lead">Every exported name, by subpath. The <a href="${hrefTo(INDEX, "guide/index.html")}">guide</a> has a page
for each part.</p>
<ul class="subpaths">\n${items.join("\n")}\n</ul>`,
    };
  }

  #sheet(module: Module): Sheet {
    const { subpath, doc, symbols } = module;
    const output = outputOf(subpath);
    const own = symbols.filter((one) => this.#homeOf(one) === subpath);
    const headings: Heading[] = [];
    const sections = Object.entries(KINDS).flatMap(([kind, words]) => {
      const names = own.filter(({ declarations }) => declarations[0].kind === kind);
      if (names.length === 0) return [];
      headings.push({ level: 2, id: kind, words }, ...names.map(({ name }) => ({ level: 3, id: name, words: name })));
      return [
        `<h2 id="${kind}">${words}</h2>`,
        ...names.map((one) => this.#section(one, subpath)),
      ];
    });
    const guide = this.#guideOf(subpath);
    const about = guide && `<p><a href="${hrefTo(output, guide)}">The guide</a> says how to use it.</p>`;
    const title = specifier(subpath);
    const lead = this.#markdown(doc.doc, subpath, output);
    this.entries.push([title, output, "API", plain(lead)]);
    return {
      output,
      title,
      description: plain(firstSentence(lead)),
      kind: "guide",
      aside: this.#menu(output),
      headings,
      body: `<h1 class="module">${title}</h1>
${lead}
${about ?? ""}
${this.#examples(doc, subpath)}
${this.#list(module)}
${sections.join("\n")}`,
    };
  }

  /** Lists a module's symbols by kind. */
  #list({ subpath, symbols }: Module): string {
    const output = outputOf(subpath);
    const rows = Object.keys(KINDS).flatMap((kind) =>
      symbols.filter(({ declarations }) => declarations[0].kind === kind)
    )
      .map((one) => {
        const words = firstSentence(this.#markdown(docOf(one).doc, subpath, output));
        return `<tr><td>${this.#link(one, subpath, output)}</td><td>${words}</td></tr>`;
      });
    return `<div class="table" tabindex="0"><table><thead><tr><th>name</th><th>what it is</th></tr></thead>
<tbody>\n${rows.join("\n")}\n</tbody></table></div>`;
  }

  #section(exported: Exported, subpath: string): string {
    const { name, declarations } = exported;
    const output = outputOf(subpath);
    const doc = docOf(exported);
    const { def } = declarations[0];
    const words = this.#markdown(doc.doc, subpath, output);
    this.entries.push([name, `${output}#${name}`, specifier(subpath), plain(words)]);
    const parts = [
      `<h3 id="${name}" class="symbol">${name} <a class="anchor" href="#${name}" aria-label="Link to ${name}">#</a></h3>`,
      this.#code(signatureOf(exported), subpath),
      words,
      this.#tags(doc, subpath),
      this.#examples(doc, subpath),
      ...(def.constructors ?? []).filter(({ accessibility }) => accessibility !== "private").map((one) => {
        return this.#member(exported, one, `new ${methodText(name, one as Callable)}`, subpath);
      }),
      ...(def.properties ?? []).filter(isPublic).map((one) => this.#member(exported, one, propertyText(one), subpath)),
      ...(def.methods ?? []).filter(isPublic).map((one) => this.#member(exported, one, memberText(one), subpath)),
    ];
    return `<section class="exported">\n${parts.join("\n")}\n</section>`;
  }

  #member({ name: owner }: Exported, member: Member, text: string, subpath: string): string {
    const output = outputOf(subpath);
    const words = this.#markdown(member.jsDoc?.doc, subpath, output);
    if (member.tsType !== undefined) {
      // The guide's tables have the words.
      this.entries.push([`${owner}.${member.name}`, `${output}#${owner}`, specifier(subpath), ""]);
    }
    const parts = [this.#code(text, subpath), words, this.#tags(member.jsDoc, subpath)];
    return `<div class="member">\n${parts.join("\n")}${this.#examples(member.jsDoc, subpath)}\n</div>`;
  }

  #tags(doc: Doc | undefined, subpath: string): string {
    const rows = (doc?.tags ?? []).flatMap((tag) => {
      const row = rowOf(tag);
      if (row === undefined) return [];
      const words = this.#markdown(row.words, subpath, outputOf(subpath)).replace(/^<p>([^]*?)<\/p>\s*$/, "$1");
      return [`<div><dt>${row.label}</dt><dd>${words}</dd></div>`];
    });
    return rows.length === 0 ? "" : `<dl class="tags">\n${rows.join("\n")}\n</dl>`;
  }

  #examples(doc: Doc | undefined, subpath: string): string {
    const examples = (doc?.tags ?? []).filter(({ kind }) => kind === "example").map(({ doc = "" }) => {
      const [, title, code] = /^([^\n]*)\n([^]*)$/.exec(doc.startsWith("```") ? `\n${doc}` : doc) ?? ["", doc, ""];
      const words = title === "" ? "" : `<p class="title">${this.#inline(title, subpath)}</p>\n`;
      return `<div class="example">${words}${this.#markdown(code, subpath, outputOf(subpath))}</div>`;
    });
    return examples.join("\n");
  }

  #inline(text: string, subpath: string): string {
    return this.#markdown(text, subpath, outputOf(subpath)).replace(/^<p>([^]*?)<\/p>\s*$/, "$1");
  }

  /** Returns a block of declarations, whose names lead to their places. */
  #code(text: string, subpath: string): string {
    const output = outputOf(subpath);
    return codeBlock(text, "ts").replace(
      /(<span class="hljs-(?:string|comment)">.*?<\/span>)|(<[^>]*>)|\b([A-Z]\w+)\b/gs,
      (
        all,
        string,
        tag,
        name,
      ) => {
        if (string || tag) return all;
        const found = this.#find(name, subpath);
        return found === undefined ? all : `<a href="${hrefTo(output, found)}">${name}</a>`;
      },
    ).replace('class="code"', 'class="code signature"');
  }

  #markdown(text: string | undefined, subpath: string, output: string): string {
    if (!text) return "";
    const linked = text.replace(/\s*@module\s*$/, "").replace(
      /\{@link(?:code|plain)? ([^\s|}]+)(?:\s*\|?\s*([^}]*))?\}/g,
      (_, target: string, words: string) => {
        if (/^https?:/.test(target)) return `[${words || target.replace(/^https?:\/\//, "")}](${target})`;
        const found = this.#find(target.split(".")[0], subpath);
        const shown = words || `\`${target}\``;
        return found === undefined ? shown : `[${shown}](${hrefTo(output, found)})`;
      },
    );
    // Links in doc comments are made above, and lead from the page itself.
    return render(linked, { source: output, output }, { ...this.#places, pages: SAME }).html
      .replace(/<h[1-6][^>]*>(.*?)<\/h[1-6]>/gs, "<p><b>$1</b></p>");
  }

  /** Returns the place of a name as a module sees it: its own, or the first one elsewhere. */
  #find(name: string, subpath: string): string | undefined {
    const seen = this.#modules.toSorted((a, b) => Number(b.subpath === subpath) - Number(a.subpath === subpath));
    for (const { symbols } of seen) {
      const found = symbols.find((one) => one.name === name);
      if (found) return `${outputOf(this.#homeOf(found))}#${name}`;
    }
    return undefined;
  }

  #homeOf({ declarations }: Exported): string {
    return this.#homes.get(declarations[0])!;
  }

  #link(exported: Exported, _subpath: string, output: string): string {
    const place = `${outputOf(this.#homeOf(exported))}#${exported.name}`;
    return `<a href="${hrefTo(output, place)}"><code>${exported.name}</code></a>`;
  }

  #guideOf(subpath: string): string | undefined {
    const [, folder] = subpath.split("/");
    return this.#places.pages.get(`lib/${FOLDERS[folder] ?? folder}/README.md`);
  }
}

/** The folders of subpaths that have another name. */
const FOLDERS: Readonly<Record<string, string>> = {
  vite: "build",
  esbuild: "build",
  bun: "build",
  hono: "frameworks",
  fastify: "frameworks",
  install: "streams",
};

/** A map that leaves links unchanged. */
const SAME: ReadonlyMap<string, string> = new (class extends Map<string, string> {
  override get(path: string): string {
    return path;
  }
})();

function specifier(subpath: string): string {
  return NAME + subpath.slice(1);
}

/** Returns the place of a subpath's page: `./codecs/gzip` is `api/codecs-gzip.html`. */
function outputOf(subpath: string): string {
  return subpath === "." ? "api/main.html" : `api/${subpath.slice(2).replaceAll("/", "-")}.html`;
}

function docOf({ declarations }: Exported): Doc {
  return declarations.find(({ jsDoc }) => jsDoc?.doc)?.jsDoc ?? declarations[0].jsDoc ?? {};
}

function isPublic({ accessibility, jsDoc, name }: Member): boolean {
  return accessibility !== "private" && !name.startsWith("#") && jsDoc?.doc !== undefined;
}

function firstSentence(html: string): string {
  const [, paragraph = ""] = /<p>([^]*?)<\/p>/.exec(html) ?? [];
  return /^[^]*?[.:](?=\s|$)/.exec(paragraph)?.[0].replace(/:$/, ".") ?? paragraph;
}

/** Returns a row of the table below a declaration; undefined for tags that are shown otherwise. */
function rowOf(
  { kind, name, doc = "", tsType, value }: Tag,
): { readonly label: string; readonly words: string } | undefined {
  if (kind === "param") return { label: `<code>${name}</code>`, words: doc };
  if (kind === "return") return { label: "returns", words: doc };
  if (kind === "throws") {
    return { label: `throws${tsType ? ` <code>${escaped(typeText(tsType))}</code>` : ""}`, words: doc };
  }
  if (kind === "see") return { label: "see", words: doc };
  if (kind === "default") return { label: "default", words: `\`${value ?? doc}\`` };
  const [, text] = /^@default\s+([^]*)$/.exec(value ?? "") ?? [];
  if (text === undefined) return undefined;
  const isValue = /^(?:-?[\d._]+|true|false|Infinity|["{[][^`]*)$/.test(text.trim());
  return { label: "default", words: isValue ? `\`${text.trim()}\`` : text };
}
