/** A page for browsers that upload: its form posts to the handler at `/files/`, and so do its scripts. */
export const uploadPage = `<!doctype html>
<meta charset="utf-8">
<title>Mill</title>
<form action="/files/" method="post" enctype="multipart/form-data">
  <input name="title">
  <textarea name="note"></textarea>
  <input type="file" name="papers" multiple>
  <input type="file" name="none">
  <button>Send</button>
</form>
`;

/** The page's functions, which run in the browser. */
export interface PageAnswer {
  readonly status: number;
  readonly body: {
    readonly files: readonly { readonly name: string; readonly bytes: number; readonly filename?: string }[];
  };
  /** The SHA-256 of the sent bytes, in hexadecimal digits. */
  readonly sent: string;
}

/** Posts a form with a file of `size` bytes by fetch(). */
export async function postForm(size: number): Promise<PageAnswer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  const form = new FormData();
  form.set("title", "The mill");
  form.set("file", new File([bytes], "large file.bin"));
  const answer = await fetch("/files/", { method: "POST", body: form });
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const sent = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { status: answer.status, body: await answer.json(), sent };
}

/** Puts a stream of `pieces` chunks of 64 KiB by fetch(). */
export async function putStream(pieces: number): Promise<PageAnswer> {
  const bytes = new Uint8Array(pieces * 65_536);
  let i = 0;
  const body = new ReadableStream({
    async pull(controller): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const piece = crypto.getRandomValues(new Uint8Array(65_536));
      bytes.set(piece, i * 65_536);
      controller.enqueue(piece);
      if (++i === pieces) controller.close();
    },
  });
  const answer = await fetch("/files/streamed.bin", { method: "PUT", body, duplex: "half" } as RequestInit);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const sent = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { status: answer.status, body: await answer.json(), sent };
}
