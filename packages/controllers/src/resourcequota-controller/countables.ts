import { groupResourceOf, objectCountEvaluator, objectCountName } from '@gyropilot/api'
import type { KubernetesObject, ResourceType, UsageEvaluator } from '@gyropilot/api'
import type { Informer } from '@gyropilot/runtime'
import type { Countable } from './reconcile.ts'

interface Entry {
  readonly evaluator: UsageEvaluator
  readonly informer?: Informer<KubernetesObject>
}

/** Which resources can be counted, and from which cache. What has been served once stays: its cache knows when all are gone. */
export class Countables {
  readonly #entries = new Map<string, Entry>()

  constructor(evaluators: readonly UsageEvaluator[]) {
    for (const evaluator of evaluators)
      this.#entries.set(objectCountName(evaluator.resource), { evaluator })
  }

  /** Objects of this resource are in this cache from now on. */
  add(type: ResourceType, informer: Informer<KubernetesObject>): void {
    const name = objectCountName(type)
    const evaluator = this.#entries.get(name)?.evaluator ?? objectCountEvaluator(type)
    this.#entries.set(name, { evaluator, informer })
  }

  evaluatorOf(type: ResourceType): UsageEvaluator | undefined {
    return this.#entries.get(objectCountName(type))?.evaluator
  }

  isCounted(quotaName: string): boolean {
    return [...this.#entries.values()].some(({ evaluator }) => evaluator.counts(quotaName))
  }

  /** What counts any of these names. */
  of(quotaNames: readonly string[], namespace: string): readonly Countable[] {
    return [...this.#entries.values()]
      .filter(({ evaluator }) => quotaNames.some((name) => evaluator.counts(name)))
      .map(({ evaluator, informer }) => ({
        evaluator,
        objects:
          informer?.hasSynced() === true
            ? informer.lister.list(namespace)
            : notSynced(evaluator.resource),
      }))
  }
}

/** To count what is not there yet would be to write that nothing is used. */
export function notSynced(type: Pick<ResourceType, 'group' | 'resource'>): Error {
  return new Error(`the cache of ${groupResourceOf(type)} is not synced`)
}
