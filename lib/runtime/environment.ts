import process from "node:process";

/** The part of `Deno.permissions` that is used here. */
interface DenoPermissions {
  querySync(descriptor: { name: "env"; variable: string }): { readonly state: string };
}

/** The value of an environment variable; undefined if it is not set, or Deno would ask its user before it is read. */
export function environmentVariable(name: string): string | undefined {
  const { Deno } = globalThis as { Deno?: { permissions: DenoPermissions } };
  if (Deno && Deno.permissions.querySync({ name: "env", variable: name }).state !== "granted") return undefined;
  return process.env[name];
}
