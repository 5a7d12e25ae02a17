/**
 * At most one operation at a time for a volume, or for a volume at a node where several nodes may have it; and when what failed may
 * be tried again. Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Reconcile loop. State only.
 */
import { FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS } from './config.ts'

export type OperationName = 'volume_attach' | 'volume_detach'

/** What is locked: with a node name, the volume at that node alone. */
export interface OperationKey {
  readonly volumeName: string
  readonly nodeName?: string
}

interface Operation {
  readonly nodeName: string | undefined
  name: OperationName
  isRunning: boolean
  backoffMs: number
  failedMs: number
}

export class PendingOperations {
  readonly #operations = new Map<string, Operation[]>()

  isRunning(key: OperationKey): boolean {
    return this.#find(key)?.isRunning === true
  }

  /** When the operation may be tried again; undefined: at once. What failed under another name holds up nothing. */
  retryAtMs(key: OperationKey, name: OperationName, nowMs: number): number | undefined {
    const known = this.#find(key)
    if (known === undefined || known.name !== name) return undefined
    const atMs = known.failedMs + known.backoffMs
    return nowMs > atMs ? undefined : atMs + 1
  }

  /** Only where none is running. */
  start(key: OperationKey, name: OperationName): void {
    const known = this.#find(key)
    if (known?.isRunning) throw new Error(`an operation at ${key.volumeName} is running`)
    if (known === undefined) {
      const { volumeName, nodeName } = key
      const others = this.#operations.get(volumeName) ?? []
      const begun: Operation = { nodeName, name, isRunning: true, backoffMs: 0, failedMs: 0 }
      this.#operations.set(volumeName, [...others, begun])
      return
    }
    known.isRunning = true
    if (known.name === name) return
    known.name = name
    known.backoffMs = 0
  }

  succeeded(key: OperationKey): void {
    const { volumeName } = key
    const ended = this.#find(key)
    const others = (this.#operations.get(volumeName) ?? []).filter((each) => each !== ended)
    if (others.length === 0) this.#operations.delete(volumeName)
    else this.#operations.set(volumeName, others)
  }

  failed(key: OperationKey, nowMs: number): void {
    const ended = this.#find(key)
    if (ended === undefined) return
    ended.isRunning = false
    ended.failedMs = nowMs
    ended.backoffMs =
      ended.backoffMs === 0 ? FIRST_BACKOFF_MS : Math.min(ended.backoffMs * 2, LONGEST_BACKOFF_MS)
  }

  #find({ volumeName, nodeName }: OperationKey): Operation | undefined {
    const matching = (this.#operations.get(volumeName) ?? []).filter(
      (each) => each.nodeName === undefined || nodeName === undefined || each.nodeName === nodeName,
    )
    return matching.find(({ isRunning }) => isRunning) ?? matching[0]
  }
}
