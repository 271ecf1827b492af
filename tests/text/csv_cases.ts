/** A CSV text, and its records as arrays. */
export type CsvCase = readonly [text: string, records: readonly (readonly string[])[]];

export const cases: readonly CsvCase[] = [
  ["", []],
  ["\n\r\n\r\r", []],
  ["a", [["a"]]],
  ["a,b,c", [["a", "b", "c"]]],
  ["a,b\nc,d", [["a", "b"], ["c", "d"]]],
  ["a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]],
  ["a,b\rc,d\r", [["a", "b"], ["c", "d"]]],
  ["a,b\n\r\n\rc,d\r\r\n", [["a", "b"], ["c", "d"]]],
  [",\n,", [["", ""], ["", ""]]],
  ["a,\n,b\n", [["a", ""], ["", "b"]]],
  ['""', [[""]]],
  ['""\n\n""\r\n', [[""], [""]]],
  ['"",""', [["", ""]]],
  [' a , "b" ', [[" a ", ' "b" ']]],
  ['"a,b",c', [["a,b", "c"]]],
  ['"a\nb","c\r\nd"\n"e\rf",g', [["a\nb", "c\r\nd"], ["e\rf", "g"]]],
  ['"""a""","b"""\n"""",""""""', [['"a"', 'b"'], ['"', '""']]],
  ['"\n\n\n"', [["\n\n\n"]]],
  ['"\r","\r\n\r"\r', [["\r", "\r\n\r"]]],
  ['a"b,c""d\ne"f",g"', [['a"b', 'c""d'], ['e"f"', 'g"']]],
  ["\ufeffa,b", [["a", "b"]]],
  ['\ufeff"a,b"\n\ufeffc', [["a,b"], ["\ufeffc"]]],
  ["é→😀,\ud83d\ude00\n\u2028,\u0000", [["é→😀", "😀"], ["\u2028", "\0"]]],
  ["a;b\tc|d", [["a;b\tc|d"]]],
  ["__proto__,1\nconstructor,2", [["__proto__", "1"], ["constructor", "2"]]],
];

/** CSV that is none, and the complaint about it. */
export const invalid: readonly (readonly [text: string, message: string])[] = [
  ['"a', "record 1, line 1: a quoted field has no end"],
  ['a\n\nb\n"c\n"",\n', "record 3, line 4: a quoted field has no end"],
  ['"a"b', 'record 1, line 1: a quoted field must be followed by a separator, not "b"'],
  ['1,"x\r\ny\rz"\n2,"b" ,c', 'record 2, line 4: a quoted field must be followed by a separator, not " "'],
  ['"a""', "record 1, line 1: a quoted field has no end"],
  ["a,b\nc", "record 2, line 2: 1 fields, but there must be 2"],
  ['"a\nb",c\n\n1,2,3', "record 2, line 4: 3 fields, but there must be 2"],
];
