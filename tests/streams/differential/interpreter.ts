import { controllerOperations } from "./controller_operations.ts";
import type { Event } from "./events.ts";
import type { StreamClasses } from "./implementations.ts";
import { pipeOperations } from "./pipe_operations.ts";
import type { Operation, Program } from "./program.ts";
import { type Handlers, readableOperations } from "./readable_operations.ts";
import { World } from "./world.ts";
import { writableOperations } from "./writable_operations.ts";

const handlers: Handlers = {
  ...controllerOperations,
  ...pipeOperations,
  ...readableOperations,
  ...writableOperations,
};

const controllerKinds: ReadonlySet<string> = new Set([...Object.keys(controllerOperations), "watchSignal"]);

/** The macrotasks without an event after which a program counts as quiet. */
const QUIET = 2;
const MOST_MACROTASKS = 60;

/** Runs a program against the classes and returns all that could be observed, in order. */
export async function run(program: Program, classes: StreamClasses): Promise<readonly Event[]> {
  const world = new World(classes, perform);
  for (const operation of program.operations) {
    if (operation.kind === "macrotask") await world.turn();
    else if (operation.kind === "microtasks") { for (let i = 0; i < operation.count; i++) await undefined; }
    else perform(world, operation);
  }
  await quiet(world);
  world.log.record("program", "is quiet");
  for (const [name, object] of world.objects) inspect(world, name, object);
  await quiet(world);
  return world.log.events;
}

function perform(world: World, operation: Operation, incoming?: unknown): void {
  const subject = subjectOf(operation);
  if (!hasObjects(world, operation)) return world.log.record(subject, `${operation.kind}: absent`);
  world.log.record(subject, operation.kind);
  const handler = handlers[operation.kind] as (world: World, operation: Operation, incoming: unknown) => void;
  try {
    handler(world, operation, incoming);
  } catch (error) {
    world.log.record(subject, `${operation.kind} threw ${world.log.describe(error)}`);
  }
}

function subjectOf(operation: Operation): string {
  if ("on" in operation) return operation.on;
  if ("name" in operation) return operation.name;
  return "from" in operation ? operation.from : "program";
}

/** Whether all that the operation works on has been made. */
function hasObjects(world: World, operation: Operation): boolean {
  const needed: string[] = [];
  if ("on" in operation) needed.push(controllerKinds.has(operation.kind) ? `${operation.on}.controller` : operation.on);
  if ("of" in operation) needed.push(operation.of);
  if (operation.kind === "pipeTo") needed.push(operation.from, operation.to);
  if (operation.kind === "pipeThrough") needed.push(operation.from, operation.through);
  return needed.every((name) => world.objects.has(name));
}

/** Records the state that an object is left in. */
function inspect(world: World, name: string, object: object): void {
  const show = (property: string): void => {
    if (!(property in object)) return;
    try {
      const value = Reflect.get(object, property);
      if (value instanceof Promise) world.watchGetter(name, property, value);
      else world.log.record(name, `${property} ${world.log.describe(value)}`);
    } catch (error) {
      world.log.record(name, `${property} threw ${world.log.describe(error)}`);
    }
  };
  for (const property of ["locked", "desiredSize", "ready", "closed"]) show(property);
}

async function quiet(world: World): Promise<void> {
  let silent = 0;
  for (let count = 0; count < MOST_MACROTASKS && (silent < QUIET || world.isWaiting); count++) {
    const before = world.log.events.length;
    await world.turn();
    silent = world.log.events.length === before ? silent + 1 : 0;
  }
}
