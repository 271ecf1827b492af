/** The part of Deno's own functions that is used here. */
interface DenoPermissions {
  permissions: { querySync(permission: Permission): { state: string } };
}

interface Permission {
  readonly name: string;
  readonly kind?: string;
}

type Action = "systemFiles" | "hostname" | "signals";

const deno = (globalThis as { Deno?: DenoPermissions }).Deno;

const everything = ["read", "write", "net", "env", "run", "sys", "ffi", "import"];
/** The permissions that each action takes; files of the system, such as those in `/proc`, take all that there are. */
const needs: Readonly<Record<Action, readonly Permission[]>> = {
  systemFiles: everything.map((name) => ({ name })),
  hostname: [{ name: "sys", kind: "hostname" }],
  signals: [{ name: "run" }],
};

/**
 * Whether the process may do something without a question to its user. Ask this before every action that the user did
 * not ask for: Deno would stop at the terminal and wait for a decision.
 */
export function isPermitted(action: Action): boolean {
  if (deno === undefined) return true;
  const { permissions } = deno;
  return needs[action].every((permission) => permissions.querySync(permission).state === "granted");
}
