import type { Rendered } from "./markdown.ts";
import { hrefTo } from "./pages.ts";

/**
 * Returns the body of the first page: what README.md says, with its first lines large, and the code of each of the
 * first sections beside its words.
 */
export function homeBody({ html }: Rendered, output: string): string {
  const [first, ...sections] = html.split(/(?=<h2 )/);
  // That section is about the repository, and has a separate page.
  const rest = sections.filter((section) => !section.startsWith('<h2 id="contributing"'));
  const [intro, ...doors] = first.split(/(?=<h3 )/);
  const [, lead] = /<p>(.*?)<\/p>/s.exec(intro)!;
  const [, promise, more] = /^(.*?): (.*)$/s.exec(lead) ?? [undefined, lead, ""];
  const [picture] = /<img [^>]*>/.exec(intro)!;
  const [install] = /<div class="code">.*?<\/div>/s.exec(intro)!;
  const [, note = ""] = /<\/div>\s*(<p>.*)$/s.exec(intro) ?? [];
  return `<section class="hero">
<div>
<h1>${promise}.</h1>
<p class="lead">${more.charAt(0).toUpperCase()}${more.slice(1)}</p>
<p class="calls"><a class="call" href="#${/id="([^"]*)"/.exec(doors[0])![1]}">Start</a>
<a href="${hrefTo(output, "playground.html")}">Try it on your files</a></p>
</div>
${picture}
</section>
<section class="install">
<h2>Install</h2>
${install}
${note}</section>
<div class="doors">
${doors.map(doorOf).join("\n")}
</div>
<div class="rest">
${rest.join("")}
</div>`;
}

/** Splits a section into its words and its code. */
function doorOf(html: string): string {
  const code = html.match(/<div class="code">.*?<\/div>\n?/gs) ?? [];
  const words = html.replace(/<div class="code">.*?<\/div>\n?/gs, "")
    .replace(/<(\/?)h3\b/g, "<$1h2");
  return `<section class="door">\n<div class="words">\n${words}</div>\n<div class="codes">\n${
    code.join("")
  }</div>\n</section>`;
}
