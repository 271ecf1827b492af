import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import type { HttpClient } from "../../../lib/http/mod.ts";
import { respond } from "../faults/server_request.ts";
import { until } from "../../support/waits.ts";
import { failureOf } from "../faults/trial.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(provider);
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** Returns the spans of a client's operations, without those of the server's health check. */
async function spansOf(protocol: (typeof PROTOCOLS)[number], act: (client: HttpClient, url: string) => Promise<void>) {
  const instrumentation = new UndiciInstrumentation({
    headersToSpanAttributes: { requestHeaders: ["x-mill"], responseHeaders: ["x-sum"] },
    ignoreRequestHook: ({ path }) => path.startsWith("/fine"),
  });
  instrumentation.setTracerProvider(provider);
  exporter.reset();
  try {
    await scene(protocol, { retries: 0 }, (request) => {
      if (request.path === "/lost") return request.reset(2);
      if (request.path === "/moved") return respond(request, 302, Buffer.from(""), { location: "/here" });
      const status = request.path === "/missing" ? 404 : 200;
      respond(request, status, Buffer.from(request.fields.get("traceparent") ?? ""), { "x-sum": "42" });
    }, ({ client, url }) => act(client, url));
  } finally {
    instrumentation.disable();
  }
  return exporter.getFinishedSpans();
}

function idOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}

for (const protocol of PROTOCOLS) {
  test(`OpenTelemetry's instrumentation of undici sees requests, and sends their context (${protocol})`, async () => {
    const tracer = provider.getTracer("test");
    let sent = "";
    let port = 0;
    const spans = await spansOf(protocol, async (client, url) => {
      port = Number(new URL(url).port);
      await tracer.startActiveSpan("work", async (parent) => {
        const response = await client.fetch(`${url}/grind?x=1`, { headers: { "x-mill": "on" } });
        sent = await response.text();
        await (await client.fetch(`${url}/moved`)).text();
        parent.end();
      });
      await (await client.fetch(`${url}/missing`, { method: "DELETE" })).text();
      await assert.rejects(client.fetch(`${url}/lost`, { method: "POST" }));
      await assert.rejects(client.fetch(`${url}/`, { signal: AbortSignal.abort() }));
      const code = await failureOf(client.fetch("http://127.0.0.1:2/"));
      assert.equal(code, "CONNECTION_REFUSED");
      await until(() => exporter.getFinishedSpans().length === 7, "the end of all spans");
    });
    const [grind, moved, here, work, missing, lost, refused] = spans;
    assert.equal(sent, idOf(grind));
    assert.equal(grind.name, "GET");
    assert.equal(grind.kind, SpanKind.CLIENT);
    const { attributes } = grind;
    assert.equal(attributes["http.request.method"], "GET");
    assert.equal(attributes["url.full"], `http://127.0.0.1:${port}/grind?x=1`);
    assert.equal(attributes["url.path"], "/grind");
    assert.equal(attributes["server.address"], "127.0.0.1");
    assert.equal(attributes["server.port"], port);
    assert.equal(attributes["user_agent.original"], "millrace");
    assert.equal(attributes["network.peer.address"], "127.0.0.1");
    assert.equal(attributes["network.peer.port"], port);
    assert.equal(attributes["http.response.status_code"], 200);
    assert.deepEqual(attributes["http.request.header.x-mill"], ["on"]);
    assert.deepEqual(attributes["http.response.header.x-sum"], ["42"]);
    assert.equal(grind.status.code, SpanStatusCode.UNSET);
    for (const span of [grind, moved, here]) {
      assert.equal(span.parentSpanContext?.spanId, work.spanContext().spanId);
    }
    assert.deepEqual([moved, here].map((span) => span.attributes["http.response.status_code"]), [302, 200]);
    assert.equal(missing.attributes["http.response.status_code"], 404);
    assert.equal(missing.status.code, SpanStatusCode.ERROR);
    assert.equal(lost.attributes["error.type"], protocol === "h2c" ? "RESET" : "CONNECTION_LOST");
    assert.equal(lost.status.code, SpanStatusCode.ERROR);
    assert.equal(refused.attributes["error.type"], "CONNECTION_REFUSED");
    assert.equal(exporter.getFinishedSpans().length, 7);
  });
}
