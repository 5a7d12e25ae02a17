/** What a random user does with admission policies: none is bound, so that they are checked and refuse nobody. */
import type { ValidatingAdmissionPolicy } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { policy } from '../scenarios/objects.ts'
import { APPS, merge, remove } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

/** The last two are in no schema, and nothing but an object may be compared with null. */
const FIELDS = ['replicas', 'paused', 'nope', 'other'] as const

function somePolicy({ cluster, pick }: Hand): ValidatingAdmissionPolicy | undefined {
  return pick(cluster.objects.all(resources.validatingadmissionpolicies))
}

export const policyOperations: readonly Operation[] = [
  {
    name: 'create a policy',
    weight: 1,
    async act(hand) {
      const name = `policy-${hand.pick(APPS)}`
      await hand.cluster.create(policy(name, `object.spec.${hand.pick(FIELDS)} == null`))
      return true
    },
  },
  {
    name: 'change a policy',
    weight: 1,
    async act(hand) {
      const target = somePolicy(hand)
      if (target === undefined) return false
      const { validations } = policy('p', `object.spec.${hand.pick(FIELDS)} == null`).spec!
      const labels = { spec: { validations }, metadata: { labels: { seen: hand.fresh('l') } } }
      await merge(hand, resources.validatingadmissionpolicies, target, labels)
      return true
    },
  },
  {
    name: 'delete a policy',
    weight: 1,
    async act(hand) {
      const target = somePolicy(hand)
      if (target === undefined) return false
      await remove(hand, resources.validatingadmissionpolicies, target)
      return true
    },
  },
]
