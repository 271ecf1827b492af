import { once } from "node:events";
import { RotatingFileWritable } from "../../lib/files/mod.ts";
import { openLogDestination } from "../../lib/pino/mod.ts";
import type { LogSink } from "./log_sink.ts";

/** Returns the writer of a RotatingFileWritable. */
export async function openSeries(directory: string, maxFileSize: number): Promise<LogSink> {
  const log = new RotatingFileWritable({ directory, maxFileSize, name: "app.log", append: true });
  const writer = log.getWriter();
  await log.flush();
  let batch: Promise<void> | undefined; // all writes of a batch return the same promise
  return {
    write(line): Promise<void> | undefined {
      const written = writer.write(line);
      if (written !== batch) (batch = written).catch(() => {}); // reported by close()
      return writer.desiredSize! > 0 ? undefined : writer.ready;
    },
    end: () => writer.close(),
  };
}

/** Returns the stream that loggers take. */
export async function openDestination(directory: string, maxFileSize: number): Promise<LogSink> {
  const log = await openLogDestination({ directory, maxFileSize, name: "app.log" });
  return {
    write: (line) => log.write(line) ? undefined : once(log, "drain"),
    async end(): Promise<void> {
      const close = once(log, "close");
      log.end();
      await close;
    },
  };
}
