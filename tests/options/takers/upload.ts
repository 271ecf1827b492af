import { join } from "node:path";
import { saveBodyOptions } from "../../../lib/upload/body/upload_options.ts";
import { saveFormOptions } from "../../../lib/upload/form/form_options.ts";
import { resumableOptions, uploadHandlerOptions } from "../../../lib/upload/handler/handler_options.ts";
import { createUploadHandler, saveBody, saveForm } from "../../../lib/upload/mod.ts";
import { beside, type Taker } from "../taker.ts";

const request = (): Request => new Request("http://localhost/", { method: "PUT", body: "text" });

export const takers: readonly Taker[] = [
  {
    schema: saveBodyOptions,
    options: "SaveBodyOptions",
    take: (options, folder) => saveBody(request(), join(folder, "file"), options),
  },
  {
    schema: saveFormOptions,
    options: "SaveFormOptions",
    take: (options, folder) => saveForm(request(), folder, options),
  },
  {
    schema: uploadHandlerOptions,
    options: "UploadHandlerOptions",
    take: (options, directory) => createUploadHandler(beside({ directory }, options)),
  },
  {
    schema: resumableOptions,
    options: "ResumableOptions",
    take: (resumable, directory) => createUploadHandler({ directory, resumable }),
  },
];
