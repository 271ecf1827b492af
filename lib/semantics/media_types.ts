import { mediaTypeTable } from "./media_type_table.ts";

interface MediaTypes {
  readonly types: ReadonlyMap<string, string>;
  readonly extensions: ReadonlyMap<string, string>;
  /** Types with content in UTF-8, in addition to `text/*`. */
  readonly inUTF8: ReadonlySet<string>;
}

let known: MediaTypes | undefined;

/** Reads the table at its first use, which takes half a millisecond. */
function readTable(): MediaTypes {
  const [types, extensions, inUTF8] = [new Map<string, string>(), new Map<string, string>(), new Set<string>()];
  for (const line of mediaTypeTable.split("\n")) {
    const [group, ...entries] = line.split(";");
    for (const entry of entries) {
      const [subtype, ...names] = entry.split(" ");
      const isMarked = subtype[0] === "*";
      const type = `${group}/${isMarked ? subtype.slice(1) : subtype}`;
      if (isMarked) inUTF8.add(type);
      extensions.set(type, names[0][0] === "-" ? names[0].slice(1) : names[0]);
      for (const name of names) if (name[0] !== "-") types.set(name, type);
    }
  }
  return { types, extensions, inUTF8 };
}

/** Returns the media type of files with an extension, given in lower case without its dot; `undefined` if the MIME database lacks it. */
export function typeOfExtension(extension: string): string | undefined {
  return (known ??= readTable()).types.get(extension);
}

/** Returns the preferred extension, without a dot, of a media type with or without parameters. */
export function extensionOfType(type: string): string | undefined {
  return (known ??= readTable()).extensions.get(/^\s*([^;\s]*)/.exec(type)![1].toLowerCase());
}

/** Whether content of a media type, given without parameters, is in UTF-8 by default. */
export function isInUTF8(type: string): boolean {
  return type.startsWith("text/") || (known ??= readTable()).inUTF8.has(type);
}

/** The types that the MIME database marks as compressible, in addition to those that are text by their names. */
const COMPRESSIBLE: ReadonlySet<string> = new Set([
  ...below("application", "dart ecmascript javascript json octet-stream postscript raml+yaml rtf tar toml vnd.dart"),
  ...below("application", "vnd.ms-fontobject vnd.ms-opentype wasm x-httpd-php x-javascript x-ns-proxy-autoconfig x-sh"),
  ...below("application", "x-tar x-virtualbox-hdd x-virtualbox-ova x-virtualbox-ovf x-virtualbox-vbox"),
  ...below("application", "x-virtualbox-vdi x-virtualbox-vhd x-virtualbox-vmdk x-www-form-urlencoded xml xml-dtd"),
  ...below("font", "otf ttf"),
  ...below("image", "bmp vnd.adobe.photoshop vnd.microsoft.icon vnd.ms-dds x-icon x-ms-bmp"),
  ...below("message", "rfc822"),
  ...below("model", "gltf-binary"),
  ...below("x-shader", "x-fragment x-vertex"),
]);

function below(group: string, subtypes: string): string[] {
  return subtypes.split(" ").map((subtype) => `${group}/${subtype}`);
}

/** Types of text, or of a format that is written in text (RFC 6839). */
const TEXT = /^text\/|\+(?:json|text|xml)$/;

/** Whether content of a media type, with or without parameters, is worth compressing. */
export function isCompressibleType(type: string): boolean {
  const name = /^\s*([^;\s]*)/.exec(type)![1].toLowerCase();
  return TEXT.test(name) || COMPRESSIBLE.has(name);
}
