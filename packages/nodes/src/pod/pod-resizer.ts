/** Grants what in-place resize asks for, and puts it into effect. Contract: docs/behaviour/simulation/kubelet.md, "Resources and resize". */
import type { Pod } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import type { LocalContainer, LocalPod } from '../running/local-pod.ts'
import {
  grantedPod,
  needsRestart,
  resizeMessage,
  resizesOf,
  sameResources,
} from '../running/pod-resize.ts'
import type { ContainerResources } from '../running/local-pod.ts'

/** A kubelet sees that a container runs with other resources when it looks at its runtime. */
const RELIST_MS = 1_000

interface ResizerServices {
  readonly clock: Clock
  readonly recorder: EventRecorder
  readonly signal: AbortSignal
  /** As stored now. */
  pod(): Pod
  /** Why there is no room for the pod as it is asked for, beside the others of its node. */
  noRoom(pod: Pod): string | undefined
  /** Ends the run; the container starts again at once, with what it was granted. */
  restart(container: LocalContainer): Promise<void>
  /** The pod was granted something else. */
  granted(): void
  changed(): void
}

export class PodResizer {
  readonly #local: LocalPod
  readonly #services: ResizerServices

  constructor(local: LocalPod, services: ResizerServices) {
    this.#local = local
    this.#services = services
  }

  /** Again whenever the pod or the room for it has changed. */
  consider(): void {
    const pod = this.#services.pod()
    const resizes = resizesOf(pod, this.#local)
    const { pending, ...others } = this.#local.resize
    if (resizes.size === 0) {
      if (pending !== undefined) this.#become(others)
      return
    }
    const message = this.#services.noRoom(pod)
    if (message === undefined) this.#grant(pod, resizes)
    else this.#defer(pod, message)
  }

  #defer(pod: Pod, message: string): void {
    const { pending } = this.#local.resize
    const { generation } = pod.metadata ?? {}
    if (pending?.message === message && pending.generation === generation) return
    this.#become({ ...this.#local.resize, pending: { message, generation } })
    const text = resizeMessage('Deferred', pod, generation, message)
    this.#event('Warning', 'ResizeDeferred', text)
  }

  #grant(pod: Pod, resizes: ReadonlyMap<LocalContainer, ContainerResources>): void {
    for (const [container, resources] of resizes) container.spec = { ...container.spec, resources }
    const { generation } = pod.metadata ?? {}
    // Init containers are not waited for, so a resize of them alone is over as soon as it is granted.
    const isWaitedFor =
      this.#local.resize.inProgress !== undefined ||
      [...resizes.keys()].some(({ role }) => role !== 'init')
    this.#become(isWaitedFor ? { inProgress: { generation } } : {})
    this.#event('Normal', 'ResizeStarted', resizeMessage('started', pod, generation))
    if (!isWaitedFor) this.#completed(generation)
    const { clock, signal } = this.#services
    const timer = clock.after(RELIST_MS, () => {
      this.#putIntoEffect(generation).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    })
    signal.addEventListener('abort', () => timer.cancel(), { once: true })
    this.#services.granted()
  }

  async #putIntoEffect(generation: number | undefined): Promise<void> {
    const restarts: Promise<void>[] = []
    for (const container of this.#local.containers) {
      const { state, resources: before, spec } = container
      const after = spec.resources ?? {}
      if (state.state !== 'running' || before === undefined || sameResources(before, after))
        continue
      if (needsRestart(spec, before, after)) restarts.push(this.#services.restart(container))
      else container.resources = after
    }
    await Promise.all(restarts)
    // Another one was granted meanwhile: that one tells of its end.
    const { pending, inProgress } = this.#local.resize
    if (this.#services.signal.aborted) return
    if (inProgress === undefined) return this.#services.changed()
    if (inProgress.generation !== generation) return
    this.#become(pending === undefined ? {} : { pending })
    this.#completed(generation)
  }

  #completed(generation: number | undefined): void {
    const pod = grantedPod(this.#services.pod(), this.#local)
    this.#event('Normal', 'ResizeCompleted', resizeMessage('completed', pod, generation))
  }

  #become(state: LocalPod['resize']): void {
    this.#local.resize = state
    this.#services.changed()
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { recorder, pod } = this.#services
    recorder.record({ regarding: pod(), type, reason, message })
  }
}
