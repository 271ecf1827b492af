import assert from "node:assert/strict";
import test from "node:test";
import { entries, serving } from "../handler/serving_handler.ts";
import { ask, filesIn, run, type Step } from "./exchange_case.ts";
import { tusCases } from "./tus_cases.ts";

const TUS = "Tus-Resumable: 1.0.0";
const DATA = "Content-Type: application/offset+octet-stream";

for (const entry of Object.keys(entries)) {
  for (const expected of tusCases) test(`${entry}: ${expected.name}`, () => run(entry, expected));

  test(`${entry}: partial uploads MUST be concatenated in the order of the list`, () =>
    serving(entry, { resumable: true, overwrite: true, name: () => "note" }, async (server) => {
      const fieldsOf = async (step: Step, status: number): Promise<ReadonlyMap<string, string>> => {
        const { answer } = (await ask(server, step))!;
        assert.equal(answer.status, status, answer.all);
        assert.equal(answer.fields.get("tus-resumable"), "1.0.0");
        return answer.fields;
      };
      const urls: string[] = [];
      for (const text of ["hello", " world"]) {
        const lines = [TUS, "Upload-Concat: partial", `Upload-Length: ${text.length}`];
        const url = (await fieldsOf({ request: ["POST", "/", ...lines], body: "" }, 201)).get("location")!;
        urls.push(url);
        const early = { request: ["POST", "/", TUS, `Upload-Concat: final;${url}`], body: "" } as const;
        await fieldsOf(early, 400); // it is not complete
        await fieldsOf({ request: ["PATCH", url, TUS, DATA, "Upload-Offset: 0"], body: text }, 204);
        const partial = await fieldsOf({ request: ["HEAD", url, TUS] }, 200);
        assert.equal(partial.get("upload-concat"), "partial");
        assert.equal(partial.get("upload-offset"), String(text.length));
      }
      assert.deepEqual(await filesIn(server.folder), {}, "a partial upload is no file");
      const concat = `final;http://127.0.0.1:${server.port}${urls[0]} ${urls[1]}`;
      const final = (await fieldsOf({ request: ["POST", "/", TUS, `Upload-Concat: ${concat}`], body: "" }, 201))
        .get("location")!;
      assert.deepEqual(await filesIn(server.folder), { note: "hello world" });
      const told = await fieldsOf({ request: ["HEAD", final, TUS] }, 200);
      assert.equal(told.get("upload-concat"), concat);
      assert.equal(told.get("upload-offset"), "11");
      assert.equal(told.get("upload-length"), "11");
      await fieldsOf({ request: ["PATCH", final, TUS, DATA, "Upload-Offset: 11"], body: "" }, 403);
      for (const wrong of ["final", "final;", "final;/x", "half", `final;/${"0".repeat(32)}`]) {
        const status = wrong.endsWith("0") ? 404 : 400;
        await fieldsOf({ request: ["POST", "/", TUS, `Upload-Concat: ${wrong}`], body: "" }, status);
      }
    }));
}
