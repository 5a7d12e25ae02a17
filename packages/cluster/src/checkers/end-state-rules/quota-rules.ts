/** What quotas must say at rest. Written from the page of resourcequota-controller, not from the controller. */
import type { Pod, ResourceQuota, ResourceType } from '@gyropilot/api'
import { isPodFinished, resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

/** Of these each object is one. */
const COUNTED: Readonly<Record<string, ResourceType>> = {
  configmaps: resources.configmaps,
  'count/configmaps': resources.configmaps,
  'count/deployments.apps': resources.deployments,
  'count/jobs.batch': resources.jobs,
  'count/persistentvolumeclaims': resources.persistentvolumeclaims,
  'count/replicasets.apps': resources.replicasets,
  'count/services': resources.services,
  persistentvolumeclaims: resources.persistentvolumeclaims,
  services: resources.services,
}

/** Quotas of what is in no row here say nothing that is checked. */
export function* quotas(objects: Objects): Iterable<string> {
  for (const quota of objects.all(resources.resourcequotas)) {
    const { hard = {}, used = {} } = quota.status ?? {}
    for (const [name, limit] of Object.entries(quota.spec?.hard ?? {})) {
      if (hard[name] !== limit)
        yield `${textOf(quota)} limits ${name} to ${hard[name]}, not ${limit}`
      const count = countOf(objects, quota, name)
      if (count !== undefined && used[name] !== `${count}`)
        yield `${textOf(quota)} says that ${used[name]} ${name} are used, there are ${count}`
    }
  }
}

function countOf(objects: Objects, quota: ResourceQuota, name: string): number | undefined {
  const { namespace } = quota.metadata ?? {}
  const { scopes = [], scopeSelector } = quota.spec ?? {}
  if (scopeSelector !== undefined) return undefined
  if (name === 'pods' || name === 'count/pods')
    return objects
      .all(resources.pods, namespace)
      .filter((pod) => scopes.every((scope) => isInScope(pod, scope)))
      .filter((pod) => name === 'count/pods' || !isPodFinished(pod)).length
  const type = COUNTED[name]
  return type === undefined ? undefined : objects.all(type, namespace).length
}

function isInScope({ spec, status }: Pod, scope: string): boolean {
  const ends = spec?.activeDeadlineSeconds !== undefined
  if (scope === 'Terminating') return ends
  if (scope === 'NotTerminating') return !ends
  if (scope === 'BestEffort') return status?.qosClass === 'BestEffort'
  return scope === 'NotBestEffort' && status?.qosClass !== 'BestEffort'
}

function textOf({ metadata }: ResourceQuota): string {
  return `ResourceQuota ${metadata?.namespace}/${metadata?.name}`
}
