import assert from "node:assert/strict";
import test from "node:test";
import { BOUNDARY, form, formOf, parse } from "./forms.ts";

const malformed = { name: "UploadError", code: "MALFORMED", status: 400 };

/** Returns the parsed header of a part: its name, file name and type. */
const understood = (header: string): unknown[] => parse([formOf(header)])[0].slice(0, 3);
const named = (parameters: string): unknown[] =>
  understood(`Content-Disposition: form-data; ${parameters}`).slice(0, 2);

test("names are read as browsers and fetch() write them", () => {
  assert.deepEqual(named('name="a"; filename="b.txt"'), ["a", "b.txt"]);
  assert.deepEqual(named('name="a%22%0D%0a%41%"; filename="%22%0D%0A%zz"'), ['a"\r\n%41%', '"\r\n%zz']);
  assert.deepEqual(named('name="a;b=c, d"; filename="x; y=z.txt"'), ["a;b=c, d", "x; y=z.txt"]);
  assert.deepEqual(named('name="é€😀"; filename="日本.txt"'), ["é€😀", "日本.txt"]);
  assert.deepEqual(named('name=""; filename=""'), ["", ""]);
  assert.deepEqual(named('name="C:\\dir\\a"; filename="C:\\dir\\new.txt"'), ["C:\\dir\\a", "C:\\dir\\new.txt"]);
  assert.deepEqual(named('name="a\\"; filename="b\\\\"'), ["a\\", "b\\\\"]);
});

test("names are read as others write them", () => {
  assert.deepEqual(named('name="a\\"b"; filename="q\\"z\\\\y.bin"'), ['a"b', 'q"z\\y.bin']);
  assert.deepEqual(named("name=a; filename=b.txt"), ["a", "b.txt"]);
  assert.deepEqual(named("name=a; filename=my file.txt ;"), ["a", "my file.txt"]);
  assert.deepEqual(named('  NAME = "a"  ;\tFileName\t="b" ; '), ["a", "b"]);
  assert.deepEqual(named('filename="b"; size=3; name="a"'), ["a", "b"]);
  assert.deepEqual(named('name="a"; filename="x"; filename*=UTF-8\'\'%e2%82%ac%20.txt'), ["a", "€ .txt"]);
  assert.deepEqual(named("name=\"a\"; filename*=utf-8'en'x%25.txt"), ["a", "x%.txt"]);
  for (const unreadable of ["UTF-8''%zz", "UTF-8''%ff", "x", "koi8-r''%c1", "iso-8859-1''%e9"]) {
    assert.deepEqual(named(`name="a"; filename="x"; filename*=${unreadable}`), ["a", "x"]);
    assert.deepEqual(named(`name="a"; filename*=${unreadable}`), ["a", unreadable]);
  }
  for (const [text, meant] of [['q\\"; x', 'q"; x'], ['\\";', '";'], ['a\\\\b\\";c=d', 'a\\b";c=d']]) {
    assert.deepEqual(named(`name="a"; filename="${text}"`), ["a", meant]);
    assert.deepEqual(named(`filename="b"; name="${text}"`), [meant, "b"]);
  }
  assert.deepEqual(understood('content-disposition:Form-Data;name="a";filename="b"'), ["a", "b", "text/plain"]);
});

test("what names cannot be read from is malformed", () => {
  const wrong = [
    "",
    "name",
    "name=",
    'name="a',
    'name="a" b',
    'name="a"; name="b"',
    'name="a"; filename="b"; filename="c"',
    'filename="b"',
    'name="a"; filename="b"c"',
    '="a"',
    'name="a";; filename="b"',
    'name=a"b"',
  ];
  for (const parameters of wrong) assert.throws(() => named(parameters), malformed, JSON.stringify(parameters));
});

test("a part that is no form data is malformed", () => {
  for (
    const header of ['Content-Disposition: attachment; name="a"', "Content-Type: text/plain", 'X: form-data; name="a"']
  ) {
    assert.throws(() => understood(header), malformed, header);
  }
});

test("fields that come twice are malformed", () => {
  const disposition = 'Content-Disposition: form-data; name="a"; filename="b"';
  for (const twice of [disposition, "Content-Type: text/html"]) {
    assert.throws(() => understood(`${disposition}\nContent-Type: text/plain\n${twice}`), malformed, twice);
  }
  assert.deepEqual(understood(`X: 1\n${disposition}\nX: 2`), ["a", "b", "text/plain"]);
});

test("header lines that are no fields are malformed", () => {
  const disposition = 'Content-Disposition: form-data; name="a"';
  for (const line of ["no colon", ": x", "a b: c", "X : y", " folded", "X: \0", "X\0: y", "é: x", "X: \x07", ""]) {
    assert.throws(() => parse([formOf(`${line}\n${disposition}`)]), malformed, JSON.stringify(line));
    if (line !== "") assert.throws(() => parse([formOf(`${disposition}\n${line}`)]), malformed, JSON.stringify(line));
  }
});

test("a bare CR in a header is malformed", () => {
  for (const value of ['form-data; name="a\rb"', 'form-data; name="a"\rX: y', '\rform-data; name="a"']) {
    const header = new TextEncoder().encode(
      `--${BOUNDARY}\r\nContent-Disposition: ${value}\r\n\r\nv\r\n--${BOUNDARY}--`,
    );
    assert.throws(() => parse([header]), malformed, JSON.stringify(value));
  }
});

test("control characters in names are malformed", () => {
  for (const character of ["\0", "\x01", "\x1b", "\x7f"]) {
    assert.throws(() => named(`name="a${character}"`), malformed);
    assert.throws(() => named(`name="a"; filename="b${character}.txt"`), malformed);
  }
});

test("the type of a file is what the sender says, and text/plain where it says nothing", () => {
  const file = 'Content-Disposition: form-data; name="a"; filename="b"';
  assert.equal(understood(file)[2], "text/plain");
  assert.equal(understood(`${file}\nContent-Type:`)[2], "text/plain");
  assert.equal(understood(`Content-Type:  Image/PNG; x="y" \n${file}`)[2], 'Image/PNG; x="y"');
});

test("a coding for the transfer that would have to be undone is not accepted", () => {
  const disposition = 'Content-Disposition: form-data; name="a"';
  for (const coding of ["7bit", "8BIT", "binary"]) {
    assert.deepEqual(understood(`${disposition}\nContent-Transfer-Encoding: ${coding}`), ["a", null, null]);
  }
  for (const coding of ["base64", "quoted-printable", "x"]) {
    assert.throws(() => understood(`${disposition}\nContent-Transfer-Encoding: ${coding}`), {
      code: "UNSUPPORTED",
      status: 415,
      message: `The Content-Transfer-Encoding "${coding}" of part 1 is not accepted`,
    });
  }
});

test("headers of nothing but what takes long to look at are malformed", () => {
  for (const filler of [" ", "\t", ";", "a", "=", "%22", "\\", "a=b;", '\\" ', "'"]) {
    const text = filler.repeat(16_000 / filler.length);
    assert.throws(() => named(`name="a" ${text}x"`), malformed, filler);
    assert.throws(() => named(`name="a"; ${text}"`), malformed, filler);
  }
});

test("malformed parts are told by their number", () => {
  const good = `--${BOUNDARY}\nContent-Disposition: form-data; name="a"\n\nv\n`;
  const bytes = form(`${good}${good}--${BOUNDARY}\nContent-Disposition: form-data\n\nv\n--${BOUNDARY}--`);
  assert.throws(() => parse([bytes]), {
    message: 'The form is malformed: the Content-Disposition of part 3, "form-data", has no name',
  });
});
