/** Whether a policy wants to see a request, as its match conditions say. */
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { matchConditions } from '../expressions.ts'
import type { ConditionOutcome } from '../expressions.ts'
import type { AdmissionWorld } from '../world.ts'
import type { MutatingPolicy, ValidatingPolicy } from './compiled-policy.ts'

interface Asked {
  readonly policy: Pick<MutatingPolicy | ValidatingPolicy, 'name' | 'conditions'>
  readonly seenAs: ResourceInfo
  readonly params: Stored | undefined
}

export function policyConditions(
  world: AdmissionWorld,
  request: AdmissionRequest,
  { policy: { name, conditions }, seenAs, params }: Asked,
): ConditionOutcome {
  const startMs = world.clock.monotonicMs()
  const outcome = matchConditions(conditions, world, request, seenAs, params)
  const { operation } = request
  // Those of mutating policies are counted under this type too.
  const asked = { kind: 'policy', name, type: 'validate', operation, startMs } as const
  if (outcome !== 'match') world.decisions?.conditions({ ...asked, failed: outcome !== 'no-match' })
  return outcome
}
