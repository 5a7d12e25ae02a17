/** What a random user does as `kubectl replace --force` does: an object goes, and at once another one has its name. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { apiVersionOf, controllerOf, resources } from '@gyropilot/api'
import { isUsers } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

/** How long he waits until an object is gone. */
const PATIENCE_MS = 10_000

const TYPES: readonly ResourceType[] = [
  resources.deployments,
  resources.replicasets,
  resources.replicationcontrollers,
  resources.statefulsets,
  resources.daemonsets,
  resources.jobs,
  resources.cronjobs,
  resources.services,
  resources.poddisruptionbudgets,
  resources.persistentvolumeclaims,
  resources.resourceclaims,
  resources.resourcequotas,
  resources.configmaps,
  resources.pods,
]

interface Given extends KubernetesObject {
  readonly spec?: Readonly<Record<string, unknown>>
  readonly data?: Readonly<Record<string, unknown>>
}

/** As its maker wrote it: without what the server and controllers have added since. */
function asWritten(found: Given): Given {
  const { apiVersion, kind, metadata = {}, data } = found
  const { name = '', namespace = '', labels, ownerReferences, finalizers } = metadata
  const spec = found.spec && { ...found.spec }
  if (spec !== undefined && kind === 'Job') {
    delete spec['selector']
    const { metadata: own, ...template } = spec['template'] as NonNullable<Given>
    const { labels: _, ...kept } = own ?? {}
    spec['template'] = { ...template, metadata: kept }
  }
  for (const given of ['clusterIP', 'clusterIPs', 'volumeName', 'nodeName'])
    if (spec !== undefined) delete spec[given]
  const own = finalizers?.filter((text) => text.startsWith('example.com/'))
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      ...(labels && kind !== 'Job' && { labels }),
      ...(ownerReferences && { ownerReferences }),
      ...(own && { finalizers: own }),
    },
    ...(spec && { spec }),
    ...(data && { data }),
  } as Given
}

/** The controller of what is owned makes it anew itself. */
function isOwn(found: KubernetesObject): boolean {
  const isGiven =
    found.metadata?.name === 'kubernetes' || found.metadata?.name === 'kube-root-ca.crt'
  return isUsers(found) && controllerOf(found) === undefined && !isGiven
}

export const namesakeOperations: readonly Operation[] = [
  {
    name: 'replace an object by its namesake',
    weight: 4,
    async act(hand: Hand) {
      const { cluster } = hand
      const type = hand.pick(TYPES)!
      const found = hand.pick(cluster.objects.all(type).filter(isOwn)) as Given | undefined
      if (found === undefined) return false
      const { namespace, name = '' } = found.metadata ?? {}
      const propagationPolicy = hand.pick(['Background', 'Background', 'Orphan'] as const)!
      const force = type === resources.pods ? { gracePeriodSeconds: 0 } : {}
      await cluster.delete(type, namespace, name, { propagationPolicy, ...force })
      const isGone = (): boolean => cluster.objects.find(type, namespace, name) === undefined
      await cluster.until(isGone, PATIENCE_MS)
      await cluster.create(asWritten({ ...found, apiVersion: apiVersionOf(type), kind: type.kind }))
      return true
    },
  },
]
