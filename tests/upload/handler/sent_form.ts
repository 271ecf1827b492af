/** The content type of forms made of these parts. */
export const FORM = "Content-Type: multipart/form-data; boundary=limit";

/** A text field. */
export const part = (header: string, text: string): string =>
  `--limit\r\nContent-Disposition: form-data; ${header}\r\n\r\n${text}\r\n`;

/** A file. */
export const file = (field: string, name: string, text: string, type = "text/plain"): string =>
  part(`name="${field}"; filename="${name}"\r\nContent-Type: ${type}`, text);

/** The delimiter that ends the form. */
export const END = "--limit--\r\n";
