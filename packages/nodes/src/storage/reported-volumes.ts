/** status.volumesInUse of one node: what its pods need, written before it is mounted. Contract: docs/behaviour/simulation/kubelet.md, Volumes. */
import { deepEqual, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'

const RETRY_MS = 1_000
/** After a start: pods that run have said by then what they use. */
const FIRST_LOOK_MS = 10_000

export interface ReportedVolumesOptions {
  readonly nodeName: string
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  /** As last seen. */
  readonly node: () => Node | undefined
}

export class ReportedVolumes {
  readonly #options: ReportedVolumesOptions
  /** By unique name: who needs it. */
  readonly #users = new Map<string, Set<string>>()
  #written: readonly string[] | undefined
  #writing: Promise<void> | undefined

  constructor(options: ReportedVolumesOptions) {
    this.#options = options
  }

  /** Resolves when the server knows that the volume is in use, or the user has released it meanwhile. */
  async use(name: string, user: string, signal: AbortSignal): Promise<void> {
    const users = this.#users.get(name) ?? new Set()
    this.#users.set(name, users.add(user))
    const isUsed = (): boolean => this.#users.get(name)?.has(user) === true
    while (isUsed() && this.#written?.includes(name) !== true) await this.#write(signal)
  }

  /** All that this one needed. */
  release(user: string, signal: AbortSignal): void {
    let isChanged = false
    for (const [name, users] of this.#users) {
      if (!users.delete(user) || users.size > 0) continue
      this.#users.delete(name)
      isChanged = true
    }
    if (isChanged) this.#writeSoon(signal)
  }

  /** What was left there by an earlier life of the node, and is used no more, is taken off. */
  begin(signal: AbortSignal): void {
    const left = this.#options.node()?.status?.volumesInUse ?? []
    if (left.length === 0) return
    sleep(this.#options.clock, FIRST_LOOK_MS, signal)
      .then(() => this.#writeSoon(signal))
      .catch(() => {})
  }

  #writeSoon(signal: AbortSignal): void {
    this.#write(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#options.logger.error(error, 'Unable to report volumes in use')
    })
  }

  async #write(signal: AbortSignal): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
    signal.throwIfAborted()
    this.#writing = this.#writeUntilDone(signal).finally(() => (this.#writing = undefined))
    await this.#writing
  }

  async #writeUntilDone(signal: AbortSignal): Promise<void> {
    const { client, clock, logger, nodeName } = this.#options
    for (;;) {
      const wanted = [...this.#users.keys()].toSorted()
      if (deepEqual(wanted, this.#written)) return
      try {
        await client
          .resource(resources.nodes)
          .patch(
            nodeName,
            { type: 'merge', value: { status: { volumesInUse: wanted } } },
            { subresource: 'status' },
          )
        this.#written = wanted
        return
      } catch (error) {
        if (signal.aborted) throw error
        logger.error(error, 'Unable to report volumes in use', { node: nodeName })
      }
      await sleep(clock, RETRY_MS, signal)
    }
  }
}
