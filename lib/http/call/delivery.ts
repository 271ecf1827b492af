/** Something that is done at the end of the turn. */
interface Delivery {
  deliver(): void;
}

let deliveries: Delivery[] = [];

/**
 * Calls `deliver` in a microtask, one for all of a turn: a response that came with its body in one piece is made when the body is
 * already there.
 */
export function deliverSoon(delivery: Delivery): void {
  deliveries.push(delivery);
  if (deliveries.length === 1) queueMicrotask(deliverAll);
}

function deliverAll(): void {
  const due = deliveries;
  deliveries = [];
  for (const delivery of due) delivery.deliver();
}
