/** Admission policies: what their expressions say of the kinds they match. */
import { resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { policy } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const CHECKER = 'validatingadmissionpolicy-status-controller'
const STEP_MS = 5_000

function warningsOf(cluster: SimulatedCluster, name: string): number | undefined {
  const found = cluster.objects.find(resources.validatingadmissionpolicies, undefined, name)
  const checked = found?.status?.typeChecking
  return checked && (checked.expressionWarnings?.length ?? 0)
}

export const policyScenarios: readonly Scenario[] = [
  {
    name: 'a policy is broken, another is mended, a third goes',
    controllers: [CHECKER],
    async play(cluster) {
      await cluster.create(policy('broken', 'object.spec.replicas > 1'))
      await cluster.create(policy('mended', 'object.spec.nope > 1'))
      await cluster.create(policy('gone', 'object.spec.nope > 1'))
      await cluster.advance(STEP_MS)
      const change = (name: string, expression: string) =>
        cluster.patch(resources.validatingadmissionpolicies, undefined, name, {
          type: 'merge',
          value: { spec: policy(name, expression).spec },
        })
      await change('broken', 'object.spec.nope > 1')
      await change('mended', 'object.spec.replicas > 1')
      await cluster.delete(resources.validatingadmissionpolicies, undefined, 'gone')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const counts = ['broken', 'mended', 'gone'].map((name) => warningsOf(cluster, name))
      if (counts.join() !== '1,0,') yield `the policies have ${counts.join()} warnings and not 1,0,`
    },
  },
]
