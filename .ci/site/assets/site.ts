/*! With MiniSearch, (c) 2022 Luca Ongaro, MIT licence: see minisearch_license.txt beside this script. */
/**
 * The script of all pages: the search, and a button that copies a block of code.
 *
 * @module
 */
import "./search_field.ts";

for (const block of document.querySelectorAll<HTMLElement>(".code:not(.signature)")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code")!.textContent!);
    button.textContent = "Copied";
    setTimeout(() => button.textContent = "Copy", 1500);
  });
  // Where a page is opened as a file, there may be no clipboard.
  if (navigator.clipboard) block.append(button);
}
