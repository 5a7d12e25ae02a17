/** How long it takes from the first try of an operation until it is done, whoever does it. */
type Operation = 'provision' | 'delete'

export interface OperationTimes {
  /** Does nothing where it has begun already. */
  begun(key: string, operation: Operation, pluginName: () => string): void
  ended(key: string, operation: Operation): void
  /** What it was for is gone. */
  dropped(key: string, operation: Operation): void
}

export function operationTimes(
  nowMs: () => number,
  took: (plugin: string, operation: Operation, durationMs: number) => void,
): OperationTimes {
  const started = new Map<string, { readonly plugin: string; readonly atMs: number }>()
  const idOf = (key: string, operation: Operation): string => `${operation} ${key}`
  return {
    begun(key, operation, pluginName) {
      const id = idOf(key, operation)
      if (!started.has(id)) started.set(id, { plugin: pluginName(), atMs: nowMs() })
    },
    ended(key, operation) {
      const begun = started.get(idOf(key, operation))
      if (begun === undefined) return
      started.delete(idOf(key, operation))
      took(begun.plugin, operation, nowMs() - begun.atMs)
    },
    dropped: (key, operation) => void started.delete(idOf(key, operation)),
  }
}
