import type { Scene } from "../scene.ts";
import { codecs } from "./codecs.ts";
import { files } from "./files.ts";
import { http } from "./http.ts";
import { precompressing } from "./precompress.ts";
import { staticFiles } from "./static.ts";
import { streams } from "./streams.ts";
import { upload } from "./upload.ts";

export const scenes: readonly Scene[] = [streams, codecs, files, precompressing, staticFiles, upload, http];
