/**
 * Writes the status of one pod: one request at a time, the newest state wins, only differing fields are sent, and the uid in
 * the body makes a write to a namesake fail. Contract: docs/behaviour/simulation/kubelet.md, Pod status.
 */
import { resources } from '@gyropilot/api'
import type { Pod, PodStatus } from '@gyropilot/api'
import { StatusError, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, Timer } from '@gyropilot/foundation'
import { bringsBack } from './ended-containers.ts'
import { statusPatch } from './status-patch.ts'

const RETRY_MS = 10_000

interface StatusWriterOptions {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  /** The status of this moment for the pod as stored. */
  status(stored: Pod): PodStatus
  /** The pod is not there any more, or another one has its name. */
  onGone(): void
}

export class StatusWriter {
  readonly #options: StatusWriterOptions
  #stored: Pod
  #timer: Timer | undefined
  #dueMs = Infinity
  #writing: Promise<boolean> | undefined
  #stopped = false

  constructor(stored: Pod, options: StatusWriterOptions) {
    this.#stored = stored
    this.#options = options
  }

  get stored(): Pod {
    return this.#stored
  }

  /** Takes in a newer state of the pod, from a watch or an answer. Older ones are ignored. */
  observe(pod: Pod): void {
    const known = Number(this.#stored.metadata?.resourceVersion ?? 0)
    if (Number(pod.metadata?.resourceVersion ?? 0) >= known) this.#stored = pod
  }

  /** Writes within `delayMs`; what changes until then goes along. */
  schedule(delayMs: number): void {
    if (this.#stopped) return
    const dueMs = this.#options.clock.monotonicMs() + delayMs
    if (dueMs >= this.#dueMs) return
    this.#timer?.cancel()
    this.#dueMs = dueMs
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.#dueMs = Infinity
      this.#timer = undefined
      void this.flush()
    })
  }

  /** Writes now, after a write in flight. True: the newest state is stored, or the pod is gone. False: it is tried again later, or with the next change. */
  async flush(): Promise<boolean> {
    while (this.#writing !== undefined) await this.#writing
    if (this.#stopped) return true
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  async #write(): Promise<boolean> {
    const { client, logger } = this.#options
    const { namespace, name = '', uid } = this.#stored.metadata ?? {}
    const wanted = this.#options.status(this.#stored)
    // It would be refused. What ends this changes the status, and that is written.
    if (bringsBack(this.#stored, wanted)) return false
    const status = statusPatch(this.#stored.status, wanted)
    if (status === undefined) return true
    try {
      const answer = await client
        .resource(resources.pods, namespace)
        .patch(
          name,
          { type: 'strategic', value: { metadata: { uid }, status } },
          { subresource: 'status' },
        )
      this.observe(answer)
      return true
    } catch (error) {
      if (await this.#isGone(error)) {
        this.#options.onGone()
        return true
      }
      logger.error(error, 'Failed to update status for pod', { pod: `${namespace}/${name}` })
      this.schedule(RETRY_MS)
      return false
    }
  }

  /** A refusal for another uid means that the pod is gone, but a busy server refuses with 409 too: so look. */
  async #isGone(error: unknown): Promise<boolean> {
    if (isNotFound(error)) return true
    if (!(error instanceof StatusError) || (error.code !== 409 && error.code !== 422)) return false
    const { client } = this.#options
    const { namespace, name = '', uid } = this.#stored.metadata ?? {}
    try {
      const found = await client.resource(resources.pods, namespace).get(name)
      if (found.metadata?.uid !== uid) return true
      this.observe(found)
      return false
    } catch (failure) {
      return isNotFound(failure)
    }
  }
}
