import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import ini from "highlight.js/lib/languages/ini";
import json from "highlight.js/lib/languages/json";
import nginx from "highlight.js/lib/languages/nginx";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages = { ini, json, nginx, typescript, xml, yaml, sh: bash };
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);

/** The languages of blocks that have another name here. */
const NAMES: Readonly<Record<string, string>> = {
  ts: "typescript",
  js: "typescript",
  html: "xml",
  toml: "ini",
  caddyfile: "nginx",
  text: "",
};

/** Returns code as HTML, with the classes of highlight.js. */
export function highlighted(code: string, language: string): string {
  const name = NAMES[language] ?? language;
  if (name === "") return code.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return highlighter.highlight(code, { language: name }).value;
}
