/** What a random user does with quotas: they count much and refuse nobody, so that workloads reach their sizes. */
import type { ResourceQuotaSpec } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { APPS, deletion, merge, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

/** The second counts pods that have failed, too: a kubelet that learns late that its node lost a taint refuses hundreds in a row. */
const PODS = { pods: '200', 'count/pods': '5000' } as const
const OBJECTS = {
  configmaps: '200',
  persistentvolumeclaims: '100',
  services: '100',
  'count/deployments.apps': '50',
  'count/jobs.batch': '100',
  'count/replicasets.apps': '300',
} as const

function someSpec({ pick }: Hand): ResourceQuotaSpec {
  return pick<ResourceQuotaSpec>([
    { hard: { ...PODS, ...OBJECTS } },
    { hard: OBJECTS },
    { hard: PODS },
    { hard: PODS, scopes: ['NotTerminating'] },
    { hard: { pods: '100' }, scopes: ['BestEffort'] },
  ])!
}

export const quotaOperations: readonly Operation[] = [
  {
    name: 'create a quota',
    weight: 1,
    async act(hand) {
      const metadata = { name: `quota-${hand.pick(APPS)}`, namespace: somePlace(hand) }
      const spec = someSpec(hand)
      await hand.cluster.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec })
      return true
    },
  },
  {
    name: 'change a quota',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.resourcequotas)
      if (target === undefined) return false
      // Its scopes are those it was made with.
      const limit = `${hand.number(200, 400)}`
      await merge(hand, resources.resourcequotas, target, { spec: { hard: { pods: limit } } })
      return true
    },
  },
  deletion('delete a quota', 0.5, resources.resourcequotas),
]
