/** How long a failing key waits. `when` counts one more requeue of the key; `forget` clears it. */
export interface RateLimiter {
  whenMs(key: string): number
  forget(key: string): void
  requeues(key: string): number
}
