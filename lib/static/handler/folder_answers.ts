import type { Answer } from "../answer/answer.ts";
import { customFields, GeneralFields } from "../answer/custom_fields.ts";
import type { CrossOrigin } from "../answer/cross_origin.ts";
import type { Settings } from "../answer/settings.ts";

/** The responses where there is no file. They have the fields of `headers("")`, which stands for the folder itself. */
export class FolderAnswers {
  readonly general: GeneralFields;
  readonly badRequest: Answer;
  readonly notFound: Answer;
  /** The response if a callback throws. */
  readonly failed: Answer;
  /** The response to every request once the handler is closed. */
  readonly closed: Answer;
  readonly cors: CrossOrigin | undefined;

  /** @throws {TypeError} if `headers("")` gives what is no field. */
  constructor(settings: Settings) {
    this.cors = settings.cors;
    this.general = new GeneralFields(customFields("", settings));
    this.badRequest = this.general.text(400, "Bad Request: the path is not well-formed");
    this.notFound = this.general.text(404, "Not Found");
    this.failed = this.general.text(500, "Internal Server Error", ["Cache-Control", "no-store"]);
    this.closed = this.general.text(503, "The server is going down", ["Cache-Control", "no-store"]);
  }
}
