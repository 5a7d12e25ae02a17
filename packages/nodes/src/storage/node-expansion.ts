/** Finishes what a resizer began, where the volume is mounted. Contract: docs/behaviour/simulation/kubelet.md, Volumes. */
import { keyOf, resources, withoutCondition } from '@gyropilot/api'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import type { VolumeSources } from './volume-sources.ts'

/** What it takes to make a file system larger. */
const EXPANSION_MS = 1_000
/** As long as a kubelet waits at most before it tries an operation on a volume again. */
const RETRY_LIMIT_MS = 122_000
const PENDING = 'FileSystemResizePending'

export interface NodeExpansionOptions {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  readonly recorder: EventRecorder
  readonly sources: VolumeSources
}

export class NodeExpansion {
  readonly #options: NodeExpansionOptions
  /** By pod uid: the uids of its claims. */
  readonly #mounted = new Map<string, Set<string>>()
  /** Uids of claims. */
  readonly #underWay = new Set<string>()
  #lifetime: AbortSignal | undefined

  constructor(options: NodeExpansionOptions) {
    this.#options = options
  }

  begin(lifetime: AbortSignal): void {
    this.#lifetime = lifetime
    this.#options.sources.onClaim((claim) => this.#look(claim))
  }

  mounted(claim: PersistentVolumeClaim, podUid: string): void {
    const claims = this.#mounted.get(podUid) ?? new Set()
    this.#mounted.set(podUid, claims.add(claim.metadata?.uid ?? ''))
    this.#look(claim)
  }

  unmounted(podUid: string): void {
    this.#mounted.delete(podUid)
  }

  #look(claim: PersistentVolumeClaim): void {
    const uid = claim.metadata?.uid ?? ''
    if (this.#lifetime === undefined || this.#lifetime.aborted) return
    if (!isPending(claim) || !this.#isHere(uid) || this.#underWay.has(uid)) return
    this.#underWay.add(uid)
    this.#expand(claim, this.#lifetime)
      .catch((error: unknown) => {
        if (this.#lifetime?.aborted === true) return
        this.#options.logger.error(error, 'Unable to resize', { claim: keyOf(claim) })
      })
      .finally(() => this.#underWay.delete(uid))
  }

  #isHere(claimUid: string): boolean {
    return this.#mounted.values().some((claims) => claims.has(claimUid))
  }

  async #expand(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const { client, clock, logger, recorder, sources } = this.#options
    const { claims, volumes } = await sources.listers(signal)
    for (let waitMs = EXPANSION_MS; ;) {
      await sleep(clock, waitMs, signal)
      const current = claims.getByKey(keyOf(claim))
      if (current?.metadata?.uid !== claim.metadata?.uid || !isPending(current)) return
      if (!this.#isHere(current?.metadata?.uid ?? '')) return
      const volume = volumes.get(undefined, current.spec?.volumeName ?? '')
      const capacity = volume?.spec?.capacity
      if (capacity === undefined) continue
      const conditions = withoutCondition(
        withoutCondition(current.status?.conditions, PENDING),
        'Resizing',
      )
      const status = {
        capacity,
        conditions: conditions.length === 0 ? null : conditions,
        allocatedResourceStatuses: null,
      }
      const { name = '', namespace, uid } = current.metadata ?? {}
      try {
        await client
          .resource(resources.persistentvolumeclaims, namespace)
          .patch(
            name,
            { type: 'merge', value: { metadata: { uid }, status } },
            { subresource: 'status' },
          )
      } catch (error) {
        if (signal.aborted) throw error
        logger.error(error, 'Unable to resize', { claim: keyOf(current) })
        waitMs = Math.min(waitMs * 2, RETRY_LIMIT_MS)
        continue
      }
      recorder.record({
        regarding: current,
        type: 'Normal',
        reason: 'FileSystemResizeSuccessful',
        message: `MountVolume.NodeExpandVolume succeeded for volume ${JSON.stringify(volume?.metadata?.name)}`,
      })
      return
    }
  }
}

function isPending(claim: PersistentVolumeClaim | undefined): claim is PersistentVolumeClaim {
  const { conditions, allocatedResourceStatuses } = claim?.status ?? {}
  return (
    allocatedResourceStatuses?.storage === 'NodeResizePending' ||
    (conditions ?? []).some(({ type, status }) => type === PENDING && status === 'True')
  )
}
