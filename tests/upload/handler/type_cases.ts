import type { RequestCase } from "./request_case.ts";
import { END, file, FORM, part } from "./sent_form.ts";

const accept = ["image/*", "video/*"];
/** The Content-Type lines of senders that don't know the type: curl -T, others, curl --data-binary. */
const silences = [[], ["Content-Type: application/octet-stream"], ["Content-Type: application/x-www-form-urlencoded"]];

const puts: RequestCase[] = silences.flatMap((lines): RequestCase[] => {
  const said = lines[0] ?? "no Content-Type";
  return [
    {
      name: `PUT of a film by its name, with ${said}`,
      options: { accept },
      request: ["PUT", "/Film.MP4", ...lines],
      body: "hello",
      status: 201,
      stored: [{ name: "Film.MP4", bytes: 5, contentType: "video/mp4" }],
      left: { "Film.MP4": "hello" },
    },
    {
      name: `PUT of a page by its name, with ${said}`,
      options: { accept },
      request: ["PUT", "/film.mp4.html", ...lines],
      body: "hello",
      status: 415,
      code: "UNSUPPORTED",
      fields: { accept: "image/*, video/*" },
    },
    {
      name: `PUT of a name that says nothing, with ${said}`,
      options: { accept },
      request: ["PUT", "/mp4", ...lines],
      body: "hello",
      status: 415,
      code: "UNSUPPORTED",
    },
  ];
});

const others: RequestCase[] = [
  {
    name: "PUT of a type that is not accepted, whatever the name",
    options: { accept },
    request: ["PUT", "/film.mp4", "Content-Type: text/html"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
  },
  {
    name: "PUT of bytes of no type, where these are accepted, whatever the name",
    options: { accept: "application/octet-stream" },
    request: ["PUT", "/film.mp4"],
    body: "hello",
    status: 201,
    stored: [{ name: "film.mp4", bytes: 5, contentType: "application/octet-stream" }],
    left: { "film.mp4": "hello" },
  },
  {
    name: "PUT of no type, where all are accepted",
    request: ["PUT", "/film.mp4"],
    body: "hello",
    status: 201,
    stored: [{ name: "film.mp4", bytes: 5, contentType: "application/octet-stream" }],
    left: { "film.mp4": "hello" },
  },
  {
    name: "PUT whose name() is told the type that counts",
    options: { accept, name: ({ contentType }) => contentType.replace("/", ".") },
    request: ["PUT", "/film.mp4", "Content-Type: application/octet-stream; charset=binary"],
    body: "hello",
    status: 201,
    left: { "video.mp4": "hello" },
  },
  {
    name: "POST of no type and no name",
    options: { accept },
    request: ["POST", "/"],
    body: "hello",
    status: 415,
    code: "UNSUPPORTED",
  },
];

const named = (name: string): string => part(`name="f"; filename="${name}"`, "hello");

const forms: RequestCase[] = [
  {
    name: "POST of a form with films by their names, of no type and of bytes",
    options: { accept, name: ({ filename, contentType }) => `${contentType.replace("/", "-")}-${filename}` },
    request: ["POST", "/", FORM],
    body: named("a.mp4") + file("f", "b.webm", "world", "application/octet-stream") + END,
    status: 201,
    left: { "video-mp4-a.mp4": "hello", "video-webm-b.webm": "world" },
  },
  ...[named("a.html"), named("a"), file("f", "a.mp4", "hello", "text/plain")].map((body, i): RequestCase => ({
    name: `POST of a form with a file of another type, by ${["its name", "nothing that it says", "what it says"][i]}`,
    options: { accept },
    request: ["POST", "/", FORM],
    body: body + END,
    status: 415,
    code: "UNSUPPORTED",
    fields: { accept: "image/*, video/*" },
  })),
  {
    name: "POST of a form with a file of no type, where all are accepted",
    options: { name: ({ filename }) => filename },
    request: ["POST", "/", FORM],
    body: named("a.mp4") + END,
    status: 201,
    stored: [{ name: "a.mp4", bytes: 5, field: "f", filename: "a.mp4", contentType: "text/plain" }],
    left: { "a.mp4": "hello" },
  },
];

/** Cases of uploads whose sender doesn't name the type. */
export const typeCases: readonly RequestCase[] = [...puts, ...others, ...forms];
