/**
 * Ends this process on a signal at once, and when the one that started it is gone: a test run that panics stops nothing that it
 * has started, and the next one would find the ports taken. Only the two stand-ins do this.
 */
const LOOK_EVERY_MS = 250

export function endWithParent(): void {
  const startedBy = Number(process.env['GYRO_STARTED_BY'] ?? process.ppid)
  setInterval(() => {
    if (process.ppid !== startedBy) process.exit(0)
  }, LOOK_EVERY_MS).unref()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))
}
