/** What the scheduler writes besides bindings. Contract: docs/behaviour/simulation/scheduler.md, Failure and Preemption. */
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { Client, ResourceClient } from '@gyropilot/client'
import { formatTime } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { SeriesEventRecorder } from '@gyropilot/runtime'

export const SCHEDULER_NAME = 'default-scheduler'

interface PodWritesOptions {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  readonly recorder: SeriesEventRecorder
}

/** Pods that are gone are no error, and what else fails is tried again with the pod: nothing rejects. */
export class PodWrites {
  readonly #options: PodWritesOptions

  constructor(options: PodWritesOptions) {
    this.#options = options
  }

  /** PodScheduled False. `nomination`: the node that the pod is promised; empty: none any more; undefined: as it is. */
  async failed(
    pod: Pod,
    reason: string,
    message: string,
    nomination: string | undefined,
  ): Promise<void> {
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      observedGeneration: pod.metadata?.generation,
      ...this.#times(pod, 'PodScheduled', 'False'),
    }
    await this.#attempt('Error updating pod', pod, (pods, name) =>
      patchStatus(pods, name, {
        status: {
          conditions: [condition],
          ...(nomination === undefined ? {} : { nominatedNodeName: nomination || null }),
        },
      }),
    )
  }

  /** The pod's node is chosen, and only its volumes are waited for. Answers the pod as it is then. */
  async nominated(pod: Pod, nodeName: string): Promise<Pod | undefined> {
    let written: Pod | undefined
    await this.#attempt('Error nominating a node', pod, async (pods, name) => {
      written = await patchStatus(pods, name, { status: { nominatedNodeName: nodeName } })
    })
    return written
  }

  async nominationLost(pod: Pod): Promise<void> {
    await this.#attempt('Error clearing the nominated node', pod, (pods, name) =>
      patchStatus(pods, name, { status: { nominatedNodeName: null } }),
    )
  }

  /** False: the victim stays. */
  async evict(victim: Pod, preemptor: Pod, nodeName: string): Promise<boolean> {
    const { uid, generation } = victim.metadata ?? {}
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${SCHEDULER_NAME}: preempting to accommodate a higher priority pod`,
      observedGeneration: generation,
      ...this.#times(victim, 'DisruptionTarget', 'True'),
    }
    return this.#attempt('Error preempting pod', victim, async (pods, name) => {
      await patchStatus(pods, name, { metadata: { uid }, status: { conditions: [condition] } })
      await pods.delete(name, { preconditions: { uid } })
      this.#preempted(victim, preemptor, `on node ${nodeName}`)
    })
  }

  /** The victim is not bound yet, and only looks for another node. */
  putBack(victim: Pod, preemptor: Pod, nodeName: string): void {
    this.#preempted(victim, preemptor, `on node ${nodeName} (in kube-scheduler memory).`)
  }

  #preempted(victim: Pod, preemptor: Pod, where: string): void {
    this.#options.recorder.record({
      regarding: victim,
      related: preemptor,
      type: 'Normal',
      reason: 'Preempted',
      action: 'Preempting',
      note: `Preempted by pod ${preemptor.metadata?.uid} ${where}`,
    })
  }

  /** Of a condition: another reason or message is no transition. */
  #times({ status }: Pod, type: string, wanted: string): object {
    const before = status?.conditions?.find((condition) => condition.type === type)
    const since = before?.status === wanted ? before.lastTransitionTime : undefined
    const lastTransitionTime = since ?? formatTime(this.#options.clock.nowMs())
    return { lastProbeTime: null, lastTransitionTime }
  }

  /** False: it failed, and that is logged. */
  async #attempt(
    message: string,
    { metadata }: Pod,
    write: (pods: ResourceClient<Pod>, name: string) => Promise<unknown>,
  ): Promise<boolean> {
    const { client, logger } = this.#options
    const { namespace, name = '' } = metadata ?? {}
    try {
      await write(client.resource(resources.pods, namespace), name)
    } catch (error) {
      if (isNotFound(error)) return true
      logger.error(error, message, { pod: `${namespace}/${name}` })
      return false
    }
    return true
  }
}

function patchStatus(pods: ResourceClient<Pod>, name: string, value: object): Promise<Pod> {
  return pods.patch(name, { type: 'strategic', value }, { subresource: 'status' })
}
