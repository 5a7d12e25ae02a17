/** What objects have beside themselves while they are stored: addresses, ports and Endpoints of services. */
import type { Clock, Logger } from '@gyropilot/foundation'
import { loggingFailures } from '../../storage/own-writes.ts'
import type { AllocationHook } from '../../contracts.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'

export const NOTHING_TAKEN = (): void => {}

export class Allocations {
  readonly #hooks: readonly AllocationHook[]
  readonly #clock: Clock
  readonly #logger: Logger

  constructor(hooks: readonly AllocationHook[], clock: Clock, logger: Logger) {
    this.#hooks = hooks
    this.#clock = clock
    this.#logger = logger
  }

  /** Takes what the object needs. What it returns is to be called once, with whether the object was stored. */
  begin(
    resource: ServedResource,
    object: Draft,
    oldObject: Stored | undefined,
    dryRun: boolean,
  ): (stored: boolean) => void {
    const hooks = this.#hooksOf(resource)
    if (hooks.length === 0) return NOTHING_TAKEN
    const settles: ((stored: boolean) => void)[] = []
    const settleAll = (stored: boolean): void => {
      for (const settle of settles.splice(0)) this.#run(() => settle(stored))
    }
    try {
      const nowMs = this.#clock.nowMs()
      for (const hook of hooks) settles.push(hook.begin({ object, oldObject, nowMs, dryRun }))
    } catch (error) {
      settleAll(false)
      throw error
    }
    return settleAll
  }

  /** After the object is gone from the store. */
  released(resource: ServedResource, stored: Stored): void {
    for (const hook of this.#hooksOf(resource)) this.#run(() => hook.released(stored))
  }

  /** What came of the object stands, whatever comes of this. */
  #run(work: () => void): void {
    loggingFailures(this.#logger, 'What goes with an object could not be written', work)()
  }

  #hooksOf({ info }: ServedResource): readonly AllocationHook[] {
    return this.#hooks.filter(
      (hook) => hook.group === info.group && hook.resource === info.resource,
    )
  }
}
