import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { request } from "node:http";

const FIELDS = { "tus-resumable": "1.0.0" };

/** Begins an upload at a server, and returns its path. */
export async function begin(port: number, length: number, name: string): Promise<string> {
  const filename = Buffer.from(name).toString("base64");
  const headers = { ...FIELDS, "upload-length": String(length), "upload-metadata": `filename ${filename}` };
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers });
  assert.equal(response.status, 201, await response.text());
  return response.headers.get("location")!;
}

/** Returns the bytes of an upload that a server has; undefined if it does not say. */
export async function offsetAt(port: number, path: string): Promise<number | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "HEAD", headers: FIELDS }).catch(() => {});
  return response?.status === 200 ? Number(response.headers.get("upload-offset")) : undefined;
}

/**
 * Sends bytes from an offset on.
 *
 * @param cut How many are sent before the connection is cut. Default: all are sent, and the response waited for.
 * @returns the status; 0 if either side cut the connection.
 */
export function send(port: number, path: string, bytes: Uint8Array, offset: number, cut?: number): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      ...FIELDS,
      "content-type": "application/offset+octet-stream",
      "upload-offset": String(offset),
      "content-length": String(bytes.length - offset),
    };
    const req = request({ host: "127.0.0.1", port, path, method: "PATCH", headers, agent: false });
    req.on("response", (res) => res.resume().on("close", () => resolve(res.statusCode!)));
    req.on("error", () => resolve(0));
    if (cut === undefined) return void req.end(bytes.subarray(offset));
    req.write(bytes.subarray(offset, offset + cut), () => setTimeout(() => req.destroy(new Error("cut")), 20));
  });
}
