/** An option, as a module of settings exports it. */
export const size = 3;
