import type { RequestCase } from "./request_case.ts";
import { END, file, FORM } from "./sent_form.ts";

/** Names that begin with a dot, at some level. */
const dotfiles: RequestCase[] = ["/.htaccess", "/.ssh/authorized_keys", "/sub/.env", "/%2Ehtaccess", "/..."].flatMap(
  (target): RequestCase[] => [
    {
      name: `PUT to ${target}`,
      files: { "sub/x": "", ".ssh/x": "" },
      request: ["PUT", target],
      body: "hello",
      status: 400,
      code: "BAD_NAME",
    },
    {
      name: `PUT to ${target}, where dotfiles are welcome`,
      options: { dotfiles: true },
      files: { "sub/x": "", ".ssh/x": "" },
      request: ["PUT", target],
      body: "hello",
      status: 201,
      left: { "sub/x": "", ".ssh/x": "", [decodeURIComponent(target.slice(1))]: "hello" },
    },
  ],
);

const more: RequestCase[] = [
  {
    name: "PUT to a name with a dot that it does not begin with",
    request: ["PUT", "/a.b"],
    body: "hello",
    status: 201,
    left: { "a.b": "hello" },
  },
  {
    name: "PUT whose name() makes a dotfile of the path",
    options: { name: ({ path }) => `sub/${path}` },
    files: { "sub/x": "" },
    request: ["PUT", "/.htaccess"],
    body: "hello",
    status: 400,
    code: "BAD_NAME",
  },
  {
    name: "POST of a form whose name() takes a dotfile's name",
    options: { name: ({ filename }) => filename },
    request: ["POST", "/", FORM],
    body: file("f", "a", "hello") + file("f", ".bashrc", "world") + END,
    status: 400,
    code: "BAD_NAME",
  },
  {
    name: "PUT to a name of temporary files, where dotfiles are welcome",
    options: { dotfiles: true },
    request: ["PUT", "/.millrace-1-2.tmp"],
    body: "hello",
    status: 400,
    code: "BAD_NAME",
  },
];

/** Code points that file systems may ignore: a joiner, a mark of direction, a soft hyphen, a selector, a byte order mark. */
const IGNORABLE = ["\u200c", "\u200f", "\u00ad", "\ufe0f", "\ufeff"];
const ignorable: RequestCase[] = IGNORABLE.flatMap((point): RequestCase[] => {
  const hidden = [
    `${point}.htaccess`,
    `sub/.${point}htaccess`,
    `${point}.millrace-uploads/x`,
    `.mill${point}race-1-2.tmp`,
    point,
  ];
  return [
    ...hidden.map((name): RequestCase => ({
      name: `PUT to ${JSON.stringify(name)}, which is another file's where a disk ignores a code point`,
      files: { "sub/x": "" },
      request: ["PUT", `/${encodeURIComponent(name).replaceAll("%2F", "/")}`],
      body: "hello",
      status: 400,
      code: "BAD_NAME",
    })),
    {
      name: `PUT to a name with U+${point.codePointAt(0)!.toString(16)} in it`,
      request: ["PUT", `/a${encodeURIComponent(point)}b.txt`],
      body: "hello",
      status: 201,
      left: { [`a${point}b.txt`]: "hello" },
    },
  ];
});

const extensions = ["png", ".PDF", "tar.gz"];
const refused = [
  "/x.php",
  "/x",
  "/png",
  "/x.png.php",
  "/x.png%20",
  "/x.png.",
  "/x.tar",
  "/x.gz",
  "/x.png;.php",
  "/xpng",
];
const accepted = ["/x.png", "/X.PNG", "/x.pdf", "/x.tar.gz", "/x.php.png", "/sub/x.Png"];

const listed: RequestCase[] = [
  ...refused.map((target): RequestCase => ({
    name: `PUT to ${target}, whose extension is not accepted`,
    options: { extensions },
    request: ["PUT", target, "Content-Type: image/png"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
  })),
  ...accepted.map((target): RequestCase => ({
    name: `PUT to ${target}, whose extension is accepted`,
    options: { extensions },
    files: { "sub/a": "" },
    request: ["PUT", target],
    body: "hello",
    status: 201,
    left: { "sub/a": "", [target.slice(1)]: "hello" },
  })),
  {
    name: "PUT to a name that is nothing but an extension",
    options: { extensions, dotfiles: true },
    request: ["PUT", "/.png"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
  },
  {
    name: "PUT whose name() gives an extension that is not accepted",
    options: { extensions, name: () => "x.php" },
    request: ["PUT", "/x.png"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
  },
  {
    name: "POST of a type whose extension is not accepted",
    options: { extensions },
    request: ["POST", "/", "Content-Type: text/html"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
  },
  {
    name: "POST of a form one of whose files has an extension that is not accepted",
    options: { extensions },
    request: ["POST", "/", FORM],
    body: file("f", "a.png", "hello") + file("f", "b.php", "world", "image/png") + END,
    status: 415,
    code: "UNSUPPORTED",
  },
  {
    name: "POST of a form whose name() gives another extension than its file has",
    options: { extensions, name: () => "x.php" },
    request: ["POST", "/", FORM],
    body: file("f", "a.png", "hello") + END,
    status: 415,
    code: "UNSUPPORTED",
  },
  {
    name: "POST of a form whose name() hides an extension that is not accepted",
    options: { extensions, name: () => "x.png" },
    request: ["POST", "/", FORM],
    body: file("f", "a.php", "hello") + END,
    status: 415,
    code: "UNSUPPORTED",
  },
  {
    name: "POST of a form whose name() skips a file with an extension that is not accepted",
    options: { extensions, name: ({ filename }) => filename === "a.php" ? undefined : "x.png" },
    request: ["POST", "/", FORM],
    body: file("f", "a.php", "hello") + file("f", "B.PNG", "world") + END,
    status: 201,
    left: { "x.png": "world" },
  },
  {
    name: "POST of a form where no file was chosen, and extensions are listed",
    options: { extensions },
    request: ["POST", "/", FORM],
    body: file("f", "", "", "application/octet-stream") + END,
    status: 200,
    stored: [],
  },
];

/** Cases of file names. */
/** Names whose compatibility form (NFKC) is reserved, by which ZFS may compare them. */
const compatible: RequestCase[] = ["\uff0ehtaccess", "\u2024env", "\uff0e\uff0e/x", "\uff0emillrace-uploads/x"].map((
  name,
) => ({
  name: `PUT to ${JSON.stringify(name)}, whose compatibility form begins with a dot`,
  files: { "sub/x": "" },
  request: ["PUT", `/${encodeURIComponent(name).replaceAll("%2F", "/")}`],
  body: "hello",
  status: 400,
  code: name.startsWith("\uff0e\uff0e") ? "OUTSIDE_ROOT" : "BAD_NAME",
}));

export const nameCases: readonly RequestCase[] = [...dotfiles, ...more, ...ignorable, ...compatible, ...listed];
