/** One turn of the event loop: every promise that can run dry has. The `settle` of a VirtualClock in tests and clusters. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
