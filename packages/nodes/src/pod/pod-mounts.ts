/** The volumes of one pod, until all are mounted. Contract: docs/behaviour/simulation/kubelet.md, Life of a pod (volumes). */
import { claimNameOf } from '@gyropilot/api'
import type { Pod, Volume } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import type { PodStorage } from '../container/pod-storage.ts'
import type { NodeVolumes } from '../storage/node-volumes.ts'
import type { PodReferences } from './pod-references.ts'

const FAILED_RETRY_MS = 500
const FAILED_RETRY_LIMIT_MS = 122_000
/** A volume for which somebody else has to act is looked at again soon: it costs a look into a cache. */
const WAITING_RETRY_MS = 100
const WAITING_RETRY_LIMIT_MS = 1_000
/** How long a pod waits for its volumes before its kubelet says so. */
const PATIENCE_MS = 123_000

interface PodMountsOptions {
  readonly clock: Clock
  readonly recorder: EventRecorder
  readonly references: PodReferences
  readonly volumes: NodeVolumes
  storage(): PodStorage
  /** Of the pod on its node. */
  readonly signal: AbortSignal
  /** Of the node's process. */
  readonly lifetime: AbortSignal
  /** As stored now. */
  pod(): Pod
  /** The pod is to end: nothing more is mounted for it. */
  isEnding(): boolean
  /** It has ended, and its volumes were released. */
  isDone(): boolean
}

interface Unmounted {
  readonly name: string
  /** The claim's volume waits for somebody. Undefined: mounting failed. */
  readonly reason: string | undefined
}

export class PodMounts {
  readonly #options: PodMountsOptions

  constructor(options: PodMountsOptions) {
    this.#options = options
  }

  /** Resolves when all are mounted, or the pod is to end. */
  async mountAll(): Promise<void> {
    await this.#untilMounted()
    // What was asked for while the pod was ended is not kept: none of its containers has begun.
    if (this.#options.isEnding()) this.#release()
  }

  #release(): void {
    const { volumes, pod, lifetime } = this.#options
    volumes.release(pod().metadata?.uid ?? '', lifetime)
  }

  async #untilMounted(): Promise<void> {
    const { clock, signal, isEnding } = this.#options
    let failedMs = FAILED_RETRY_MS
    let waitingMs = WAITING_RETRY_MS
    let sinceMs = clock.monotonicMs()
    for (;;) {
      const unmounted = await this.#mountSome()
      if (unmounted.length === 0 || isEnding()) return
      const isFailed = unmounted.some(({ reason }) => reason === undefined)
      await sleep(clock, isFailed ? failedMs : waitingMs, signal)
      if (isEnding()) return
      if (isFailed) failedMs = Math.min(failedMs * 2, FAILED_RETRY_LIMIT_MS)
      waitingMs = Math.min(waitingMs * 2, WAITING_RETRY_LIMIT_MS)
      if (clock.monotonicMs() - sinceMs < PATIENCE_MS) continue
      sinceMs = clock.monotonicMs()
      this.#tell(lateText(unmounted))
    }
  }

  /** Of a pod that runs already: its files come back, and nobody is told. */
  async remountAll(): Promise<void> {
    const { clock, signal, isEnding } = this.#options
    for (let waitMs = WAITING_RETRY_MS; !isEnding(); waitMs *= 2) {
      const unmounted = await this.#mountSome(true)
      if (unmounted.length === 0) break
      await sleep(clock, Math.min(waitMs, FAILED_RETRY_LIMIT_MS), signal)
    }
    if (this.#options.isDone()) this.#release()
  }

  async #mountSome(quiet = false): Promise<readonly Unmounted[]> {
    const { pod: podOf, references } = this.#options
    const pod = podOf()
    const unmounted: Unmounted[] = []
    for (const volume of pod.spec?.volumes ?? []) {
      const claimName = claimNameOf(pod, volume)
      if (claimName !== undefined) {
        const left = await this.#mountClaim(pod, volume, claimName, quiet)
        if (left !== undefined) unmounted.push(left)
        continue
      }
      const problem = quiet ? undefined : await references.volumeProblem(pod, volume)
      if (problem === undefined) continue
      unmounted.push({ name: volume.name, reason: undefined })
      this.#tell(`MountVolume.SetUp failed for volume "${volume.name}" : ${problem}`)
    }
    return unmounted
  }

  async #mountClaim(
    pod: Pod,
    { name }: Volume,
    claimName: string,
    quiet: boolean,
  ): Promise<Unmounted | undefined> {
    const { volumes, storage, signal } = this.#options
    if (storage().isMounted(name)) return undefined
    const mounting = await volumes.mount(pod, claimName, signal)
    switch (mounting.state) {
      case 'mounted':
        storage().mount(name, mounting.store)
        return undefined
      case 'waiting':
        return { name, reason: mounting.reason }
      case 'failed':
        if (!quiet)
          this.#tell(
            `MountVolume.SetUp failed for volume "${mounting.volumeName}" : ${mounting.message}`,
          )
        return { name, reason: undefined }
    }
  }

  #tell(message: string): void {
    const regarding = this.#options.pod()
    this.#options.recorder.record({ regarding, type: 'Warning', reason: 'FailedMount', message })
  }
}

/** Volumes that could not be found out about are named, and why. */
function lateText(unmounted: readonly Unmounted[]): string {
  const names = unmounted.map(({ name }) => name).join(' ')
  const unprocessed = unmounted.filter(({ reason }) => reason?.startsWith('error processing'))
  const failed = unprocessed.map(({ name }) => name).join(' ')
  const causes = unprocessed.map(({ reason }) => reason ?? '')
  const why = causes.length === 0 ? 'context deadline exceeded' : causes.join(', ')
  return `Unable to attach or mount volumes: unmounted volumes=[${names}], unattached volumes=[], failed to process volumes=[${failed}]: ${why}`
}
