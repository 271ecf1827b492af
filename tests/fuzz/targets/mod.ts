import type { Target } from "../target.ts";
import { bodies } from "./bodies.ts";
import { decoders } from "./decoders.ts";
import { dictionaries } from "./dictionaries.ts";
import { encoders } from "./encoders.ts";
import { hpack } from "./hpack.ts";
import { http1 } from "./http1.ts";
import { http1Connection } from "./http1_connection.ts";
import { http2 } from "./http2.ts";
import { manifest } from "./manifest.ts";
import { multipart } from "./multipart.ts";
import { staticFields } from "./static_fields.ts";
import { staticRequests } from "./static_requests.ts";
import { text } from "./text.ts";

/** All that bytes of strangers get to. Stream operations are not bytes: `streams` of run.ts. */
export const targets: readonly Target[] = [
  bodies,
  decoders,
  encoders,
  http1,
  http1Connection,
  http2,
  hpack,
  multipart,
  dictionaries,
  staticFields,
  staticRequests,
  text,
  manifest,
];
