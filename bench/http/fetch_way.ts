import type { Way } from "./ways.ts";

/** The options passed to `fetch` here. */
interface Init {
  readonly method?: string;
  readonly body?: ReadableStream<Uint8Array>;
  readonly duplex?: "half";
}

/** The members of a response in use here. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
  text(): Promise<string>;
}

/** Returns a way by any function that is like `fetch`. */
export function fetchWay(fetchIt: (init?: Init) => Promise<Answer>, end: () => void): Way {
  return {
    text: async () => await (await fetchIt()).text(),
    download: async () => {
      const { body } = await fetchIt();
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      let bytes = 0;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return bytes;
        bytes += value.length;
      }
    },
    upload: async (pieces) => {
      const iterator = pieces[Symbol.asyncIterator]();
      const body = new ReadableStream<Uint8Array>({
        async pull(controller): Promise<void> {
          const { done, value } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      await (await fetchIt({ method: "POST", body, duplex: "half" })).text();
    },
    end,
  };
}
