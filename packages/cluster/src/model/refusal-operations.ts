/** What a random user forbids for a while: controllers are refused what they want to write, and must come back to it. */
import type { KubernetesObject, ValidatingAdmissionPolicyBinding } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { policy } from '../scenarios/objects.ts'
import { somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

type Rule = readonly [
  group: string,
  version: string,
  resource: string,
  ...operations: ('CREATE' | 'UPDATE' | 'DELETE')[],
]

const FORBIDDEN: readonly Rule[] = [
  ['', 'v1', 'pods', 'CREATE'],
  ['', 'v1', 'pods', 'CREATE'],
  ['', 'v1', 'pods', 'DELETE'],
  ['', 'v1', 'pods', 'UPDATE'],
  ['apps', 'v1', 'replicasets', 'CREATE', 'UPDATE'],
  ['apps', 'v1', 'replicasets', 'DELETE'],
  ['apps', 'v1', 'controllerrevisions', 'CREATE', 'UPDATE', 'DELETE'],
  ['apps', 'v1', 'deployments/status', 'UPDATE'],
  ['batch', 'v1', 'jobs', 'CREATE', 'DELETE'],
  ['batch', 'v1', 'jobs/status', 'UPDATE'],
  ['discovery.k8s.io', 'v1', 'endpointslices', 'CREATE', 'UPDATE', 'DELETE'],
  ['', 'v1', 'endpoints', 'CREATE', 'UPDATE', 'DELETE'],
  ['', 'v1', 'persistentvolumeclaims', 'CREATE', 'UPDATE'],
  ['', 'v1', 'persistentvolumes', 'CREATE', 'UPDATE', 'DELETE'],
  ['storage.k8s.io', 'v1', 'volumeattachments', 'CREATE', 'DELETE'],
  ['resource.k8s.io', 'v1', 'resourceclaims', 'CREATE', 'DELETE'],
  ['rbac.authorization.k8s.io', 'v1', 'clusterroles', 'UPDATE'],
  ['networking.k8s.io', 'v1', 'servicecidrs', 'UPDATE'],
]
const LONGEST_S = 40

/** There for so long; whatever happens meanwhile, it goes. */
async function during(hand: Hand, objects: readonly KubernetesObject[]): Promise<boolean> {
  const { cluster } = hand
  for (const object of objects) await cluster.create(object)
  await cluster.advance(hand.number(1, LONGEST_S) * 1_000)
  for (const { kind, metadata } of objects.toReversed()) {
    const type = Object.values(resources).find((each) => each.kind === kind)!
    await cluster.delete(type, metadata?.namespace, metadata?.name ?? '')
  }
  return true
}

function binding(name: string): ValidatingAdmissionPolicyBinding {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  }
}

export const refusalOperations: readonly Operation[] = [
  {
    name: 'forbid something for a while',
    weight: 2,
    act(hand) {
      const name = hand.fresh('forbid')
      const [group, version, resource, ...verbs] = hand.pick(FORBIDDEN)!
      const { spec, ...rest } = policy(name, 'false')
      const rule = {
        apiGroups: [group],
        apiVersions: [version],
        operations: verbs,
        resources: [resource],
      }
      const matchConstraints = { resourceRules: [rule] }
      return during(hand, [
        { ...rest, spec: { ...spec, matchConstraints } } as KubernetesObject,
        binding(name),
      ])
    },
  },
  {
    name: 'allow few pods for a while',
    weight: 1,
    act(hand) {
      const metadata = { name: hand.fresh('few'), namespace: somePlace(hand) }
      const pods = `${hand.number(0, 5)}`
      const spec = { hard: hand.pick([{ pods }, { 'count/pods': pods }])! }
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec }
      return during(hand, [quota as KubernetesObject])
    },
  },
]
