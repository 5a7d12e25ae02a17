/** Writes the condition PodGroupScheduled. Contract: docs/behaviour/simulation/scheduler.md, PodGroups. */
import { POD_GROUPS, findCondition, keyOf } from '@gyropilot/api'
import type { PodGroup } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { errorText, formatTime, sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { GroupScheduled } from './decide-group.ts'

const TYPE = 'PodGroupScheduled'
/** No pod may be left whose try would write it once more. */
const RETRY_MS = 5_000

interface GroupStatusOptions {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
}

interface Said extends GroupScheduled {
  readonly lastTransitionTime: string
}

/** Remembers what it said: caches show it late, and a group that was scheduled once stays so. */
export class GroupStatus {
  readonly #options: GroupStatusOptions
  readonly #said = new Map<string, Said>()
  readonly #writing = new Set<string>()
  readonly #stopped = new AbortController()

  constructor(options: GroupStatusOptions) {
    this.#options = options
  }

  /** Of the group as the cache shows it. */
  say(group: PodGroup, condition: GroupScheduled): void {
    const uid = group.metadata?.uid ?? ''
    const before = this.#said.get(uid) ?? findCondition(group.status?.conditions, TYPE)
    if (before?.status === 'True') return
    if (before?.status === condition.status && before.message === condition.message) return
    const lastTransitionTime =
      before?.status === condition.status
        ? before.lastTransitionTime
        : formatTime(this.#options.clock.nowMs())
    this.#said.set(uid, { ...condition, lastTransitionTime })
    void this.#write(group, uid)
  }

  /** The group is gone. */
  forget(uid: string): void {
    this.#said.delete(uid)
  }

  stop(): void {
    this.#stopped.abort()
  }

  /** One write after the other, and of the last word only: a late one must not undo it. */
  async #write(group: PodGroup, uid: string): Promise<void> {
    if (this.#writing.has(uid)) return
    this.#writing.add(uid)
    const { client, clock, logger } = this.#options
    const { namespace, name = '' } = group.metadata ?? {}
    const { signal } = this.#stopped
    let written: Said | undefined
    for (;;) {
      const said = this.#said.get(uid)
      if (said === undefined || said === written) break
      const value = { metadata: { uid }, status: { conditions: [{ type: TYPE, ...said }] } }
      try {
        await client
          .resource(POD_GROUPS, namespace)
          .patch(name, { type: 'strategic', value }, { subresource: 'status' })
        written = said
      } catch (error) {
        // It is gone, and so may be a namesake of it there.
        if (isNotFound(error) || isConflict(error) || signal.aborted) break
        const what = { podGroup: keyOf(group), error: errorText(error) }
        logger.info('PodGroup status could not be written', what)
        if (!(await isOver(sleep(clock, RETRY_MS, signal)))) break
      }
    }
    this.#writing.delete(uid)
  }
}

/** False: it was given up. */
function isOver(pause: Promise<void>): Promise<boolean> {
  return pause.then(
    () => true,
    () => false,
  )
}
