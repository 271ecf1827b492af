/** Unpacks data in base64 that is compressed by deflate, as long data is. */
export async function unpacked(text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return await new Response(stream).text();
}
