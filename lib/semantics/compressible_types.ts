/** The types that the MIME database calls compressible, besides those that their names show to be text. */
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

/** Whether content of a media type, be it with parameters, is worth compressing by the MIME database. */
export function isCompressibleType(type: string): boolean {
  const name = /^\s*([^;\s]*)/.exec(type)![1].toLowerCase();
  return TEXT.test(name) || COMPRESSIBLE.has(name);
}
