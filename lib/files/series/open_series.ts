import { requireOption } from "../../streams/internal.ts";
import { filePath } from "../place.ts";
import { ContinuedRotation } from "./continued_rotation.ts";
import { FileSeries } from "./file_series.ts";
import { Rotation, type SeriesWriter } from "./rotation.ts";
import type { RotationOptions, RotationSchema } from "./rotation_options.ts";

/** The options of a series that goes on. */
const continuing = ["interval", "maxFiles", "maxTotalSize", "maxAge", "compress", "retry", "onWarning"] as const;

const HOUR = 3_600_000;
const intervals = { hour: HOUR, day: 24 * HOUR } as const;

/** Makes what writes a series, which opens nothing yet. */
export function openSeries(schema: RotationSchema, options: RotationOptions): SeriesWriter | ContinuedRotation {
  const settings = schema(options);
  const directory = filePath(requireOption(schema, settings, "directory"), "directory");
  const maxFileSize = requireOption(schema, settings, "maxFileSize");
  const { name, overwrite, atomic } = settings;
  const series = new FileSeries(directory, name);
  if (settings.append) return continued(series, maxFileSize, settings);
  const needy = continuing.find((name) => options[name] !== undefined);
  if (needy !== undefined) throw new TypeError(`${needy} needs append: true: it is for a series that goes on`);
  return new Rotation(series, maxFileSize, overwrite, atomic);
}

function continued(series: FileSeries, maxFileSize: number, settings: ReturnType<RotationSchema>): ContinuedRotation {
  const { overwrite, atomic, compress } = settings;
  if (overwrite) throw new TypeError("append and overwrite exclude each other: choose one");
  if (atomic) throw new TypeError("append and atomic exclude each other: the last file goes on to be written");
  if (series.name === undefined) throw new TypeError("append needs a name that is a string, not a function");
  const interval = typeof settings.interval === "string" ? intervals[settings.interval] : settings.interval;
  return new ContinuedRotation(series, maxFileSize, { ...settings, interval }, compress);
}
