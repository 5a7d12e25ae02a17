/** Every resource has its evaluator. Contract: docs/behaviour/controllers/resourcequota-controller.md, Evaluators. */
import { podEvaluator } from './pod-usage.ts'
import { resourceClaimEvaluator } from './resource-claim-usage.ts'
import { objectCountName } from './resource-names.ts'
import type { GroupResource } from '../generated/meta-v1.ts'
import { serviceEvaluator } from './service-usage.ts'
import type { UsageEvaluator } from './usage-evaluator.ts'
import { volumeClaimEvaluator } from './volume-claim-usage.ts'

/** Core resources that are counted under their plain name too. */
const PLAIN_NAMES = ['configmaps', 'secrets', 'resourcequotas', 'replicationcontrollers']

export interface EvaluatorOptions {
  /** Gate DRAExtendedResource. Default: true. */
  readonly extendedResources?: boolean
}

/** Those that exist whether their resource is served or not. */
export function standardEvaluators({
  extendedResources = true,
}: EvaluatorOptions = {}): readonly UsageEvaluator[] {
  return [
    podEvaluator,
    serviceEvaluator,
    volumeClaimEvaluator,
    resourceClaimEvaluator(extendedResources),
    ...PLAIN_NAMES.map((resource) => objectCountEvaluator({ group: '', resource }, [resource])),
  ]
}

/** Objects by their number, under `count/...` and these other names. */
export function objectCountEvaluator(
  resource: GroupResource,
  otherNames: readonly string[] = [],
): UsageEvaluator {
  const names: ReadonlySet<string> = new Set([objectCountName(resource), ...otherNames])
  const usage = Object.fromEntries([...names].map((name) => [name, '1']))
  return {
    resource,
    counts: (name) => names.has(name),
    usage: () => usage,
    matchesScope: () => false,
    admits: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
  }
}
