/** What the pods of a node leave of it to those that ask for more. Contract: docs/behaviour/simulation/kubelet.md, "Resources and resize". */
import type { Node, Pod } from '@gyropilot/api'
import { resourceRefusal } from './admission.ts'
import type { ActivePod } from './admission.ts'

export interface Resident extends ActivePod {
  readonly pod: Pod
  readonly done: boolean
  /** Since when it has waited for room; undefined: it does not. */
  readonly deferredSince: string | undefined
  /** Looks again whether there is room. */
  reconsider(): void
}

export class NodeRoom {
  readonly #residents: ReadonlyMap<string, Resident>
  readonly #node: () => Node | undefined

  constructor(residents: ReadonlyMap<string, Resident>, node: () => Node | undefined) {
    this.#residents = residents
    this.#node = node
  }

  /** Why the pod cannot be as large as it is; undefined: it can. */
  refusal(pod: Pod): string | undefined {
    const others = [...this.#residents.values()].filter(
      (other) => !other.done && other.pod.metadata?.uid !== pod.metadata?.uid,
    )
    return resourceRefusal(pod, this.#node(), others)?.message
  }

  /** Somebody takes less than before: who waits for room is asked again, the most important first. */
  changed(): void {
    const waiting = [...this.#residents.values()].filter(
      ({ done, deferredSince }) => !done && deferredSince !== undefined,
    )
    for (const resident of waiting.sort(byImportance)) resident.reconsider()
  }
}

/** By priority, then Guaranteed ones, then who has waited longest. */
function byImportance(a: Resident, b: Resident): number {
  const priority = (b.pod.spec?.priority ?? 0) - (a.pod.spec?.priority ?? 0)
  if (priority !== 0) return priority
  const guaranteed = Number(isGuaranteed(b.pod)) - Number(isGuaranteed(a.pod))
  if (guaranteed !== 0) return guaranteed
  const [left, right] = [key(a), key(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

function isGuaranteed({ status }: Pod): boolean {
  return status?.qosClass === 'Guaranteed'
}

function key({ deferredSince, pod }: Resident): string {
  return `${deferredSince}/${pod.metadata?.uid}`
}
