/** Deadlines, timers and waits: the only module that sets the runtime's timers, apart from streams and batches. @module */
export { Deadline, DeadlineList, type Timed } from "./deadline_list.ts";
export { Hold, Interval, KEEPS_TIMERS, MAX_TIMER_DELAY, Timer, type TimerOptions } from "./timer.ts";
export { endsWithin, Pause, sleep, TimeLimit, TurnSlicer } from "./waits.ts";
