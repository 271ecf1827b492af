/** Makes an element with a class and a text; names of files are only ever put in as text. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  text = "",
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  if (text !== "") made.textContent = text;
  return made;
}
