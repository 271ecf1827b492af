/** A test of sirv that this package cannot pass, and the reason. */
interface Exclusion {
  readonly suite: string;
  readonly name: string;
  readonly reason: string;
}

export const exclusions: readonly Exclusion[] = [
  {
    suite: "etag",
    name: 'should be "weak" variant and calculated from file stats',
    reason: "ours are strong, of the content: RFC 9110, section 8.8.1, wants that for ranges",
  },
  {
    suite: "gzip",
    name: 'should require "Accept-Encoding" match to do anything',
    reason: "its data.js.gz is no gzip but a line of text: ours sends as gzip what begins as gzip (RFC 1952)",
  },
  {
    suite: "gzip",
    name: "should serve prepared `.gz` file of any asset, if found",
    reason: "so is its index.html.gz",
  },
];
