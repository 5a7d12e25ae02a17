/** One turn of the event loop: every promise that can run dry has. The `settle` of a VirtualClock in tests and clusters. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const TURN_EVERY = 256

/**
 * Runs promises dry without a turn of the event loop, which costs a system call: for worlds in which nothing real is waited for, and
 * of which nothing calls `process.nextTick`. Each 256th time is a turn all the same, so that the process around such a world hears
 * signals, timers and sockets.
 */
export function promiseSettler(): () => Promise<void> {
  let count = 0
  return () => {
    count = (count + 1) % TURN_EVERY
    return count === 0 ? settle() : new Promise((resolve) => process.nextTick(resolve))
  }
}
