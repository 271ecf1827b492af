/**
 * Runs one test file of fetch in this process: `child.ts ROOT FILE native|ours PORT PORT2 SECONDS`.
 *
 * @module
 */
import { setDefaultResultOrder } from "node:dns";
import process from "node:process";
import { HttpClient, HttpError } from "../../../../lib/http/mod.ts";
import { runScripts } from "../../../wpt/harness.ts";
import { type Script, scriptsOf } from "../../../wpt/test_file.ts";

const [root, file, mode, port, port2, seconds] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
setDefaultResultOrder("ipv4first"); // where the server is
const base = new URL(file, `http://localhost:${port}/`);

/** The values that the suite's server fills into its `.sub.js` files. */
const substitutes: Readonly<Record<string, string>> = {
  "ports[http][0]": port,
  "ports[http][1]": port2,
  "ports[https][0]": port,
  "ports[https][1]": port2,
  "host": "localhost",
  "domains[www]": "127.0.0.1",
  "domains[www1]": "127.0.0.1",
  "domains[www2]": "127.0.0.1",
  "hosts[alt][]": "127.0.0.1",
  "hosts[alt][www]": "127.0.0.1",
  "location[scheme]": "http",
  "location[server]": base.origin,
};

function substituted({ path, code }: Script): Script {
  return {
    path,
    code: path.includes(".sub.") ? code.replace(/\{\{(.+?)\}\}/g, (all, name) => substitutes[name] ?? all) : code,
  };
}

/** URLs of tests are relative to them, which only pages and workers know. */
function resolved<T>(input: T): T | string {
  if (input instanceof NativeRequest || typeof input === "symbol") return input;
  const text = String(input);
  return URL.canParse(text, base) ? new URL(text, base).href : text;
}

const NativeRequest = globalThis.Request;
const nativeFetch = globalThis.fetch;
const client = new HttpClient();
const fetchUnderTest = mode === "ours" ? client.fetch as typeof fetch : nativeFetch;

class BasedRequest extends NativeRequest {
  constructor(input: RequestInfo | URL, init?: RequestInit) {
    super(resolved(input), init);
  }
}
Object.defineProperty(BasedRequest, "name", { value: "Request" });

// The suite asks for TypeError itself; ours is a class of its own that inherits from it.
Object.defineProperty(HttpError.prototype, "constructor", { value: TypeError });

const redirect = Response.redirect;
Response.redirect = (url, status) => redirect.call(Response, resolved(url), status);
Object.assign(globalThis, {
  self: globalThis,
  META_TITLE: file,
  GLOBAL: { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false },
  Request: BasedRequest,
  fetch: (input: RequestInfo | URL, init?: RequestInit) => {
    try {
      return fetchUnderTest(resolved(input), init);
    } catch (error) {
      return Promise.reject(error);
    }
  },
});
Object.defineProperty(globalThis, "location", { value: base, configurable: true });
runScripts(scriptsOf(root, file).map(substituted), Number(seconds));
