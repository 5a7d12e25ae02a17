/** Keeps namespaces within their quotas: judged by status.used, which is raised before the object is stored. */
import { addQuantities, compareQuantities } from '@gyropilot/api'
import { SERVER_IDENTITY } from '../../auth/index.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import type { ResourceList } from '../pod-resources.ts'
import { isFor, readAll, refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'
import { scopesMatch } from './scopes.ts'
import { isAbout, usageDelta, usageOf } from './usage.ts'

/** A quota on these asks every container for a value. */
const REQUIRED_OF_CONTAINERS = [
  'cpu',
  'limits.cpu',
  'limits.memory',
  'memory',
  'requests.cpu',
  'requests.memory',
]

export function resourceQuota(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'ResourceQuota',
    handles: (request) =>
      isCounted(request) && readAll(world, 'resourcequotas', request.namespace).length > 0,
    async validate(request) {
      const delta = deltaOf(request, world.clock.nowMs())
      const quotas = readAll(world, 'resourcequotas', request.namespace).filter((quota) =>
        isInteresting(quota, request),
      )
      for (const quota of quotas) checkRequirements(quota, request)
      if (Object.keys(delta).length === 0) return
      // All are judged before any is charged.
      for (const quota of quotas) usedAfter(quota, request, delta)
      if (request.dryRun) return
      for (const quota of quotas) await charge(world, quota, request, delta)
    },
  }
}

function isCounted(request: AdmissionRequest): boolean {
  const { operation, resource, subresource, object } = request
  if (!resource.namespaced || object === undefined) return false
  if (operation === 'CREATE') return subresource === ''
  if (operation !== 'UPDATE') return false
  return (
    isFor(request, '', 'services') ||
    isFor(request, '', 'persistentvolumeclaims') ||
    isFor(request, '', 'pods', 'resize')
  )
}

function deltaOf({ resource, object, oldObject }: AdmissionRequest, nowMs: number): ResourceList {
  const before = oldObject === undefined ? {} : usageOf(resource, oldObject, nowMs)
  return usageDelta(before, usageOf(resource, object!, nowMs))
}

function isInteresting(quota: Stored, { resource, object }: AdmissionRequest): boolean {
  return trackedNames(quota, resource).length > 0 && scopesMatch(quota, resource, object!)
}

function trackedNames(quota: Stored, resource: AdmissionRequest['resource']): string[] {
  return Object.keys(quota['spec'].hard ?? {})
    .filter((name) => isAbout(resource, name))
    .toSorted()
}

/** Pods must say what they take of anything that is limited. */
function checkRequirements(quota: Stored, request: AdmissionRequest): void {
  if (!isFor(request, '', 'pods')) return
  const required = trackedNames(quota, request.resource).filter((name) =>
    REQUIRED_OF_CONTAINERS.includes(name),
  )
  const { containers = [], initContainers = [], resources: podLevel } = request.object!['spec']
  const missing: string[] = []
  for (const name of required) {
    const without = [...containers, ...initContainers].filter(
      (container: Stored) => !isStated(container['resources'], name) && !isStated(podLevel, name),
    )
    const names = [
      ...new Set(without.map((container: Stored) => container['name'] as string)),
    ].toSorted()
    if (names.length > 0) missing.push(`${name} for: ${names.join(',')}`)
  }
  if (missing.length > 0)
    throw refusal(
      request,
      `failed quota: ${quota['metadata'].name}: must specify ${missing.join('; ')}`,
    )
}

function isStated(resources: Stored | undefined, quotaName: string): boolean {
  const [kind, name] = quotaName.startsWith('limits.')
    ? ['limits', quotaName.slice(7)]
    : ['requests', quotaName.replace('requests.', '')]
  return resources?.[kind!]?.[name!] !== undefined
}

/** The new status.used of what the request changes. Throws when that is too much, or when nobody has counted yet. */
function usedAfter(quota: Stored, request: AdmissionRequest, delta: ResourceList): ResourceList {
  const { hard = {}, used = {} } = quota['status'] ?? {}
  const { name } = quota['metadata']
  const tracked = trackedNames(quota, request.resource)
  if (tracked.some((entry) => hard[entry] === undefined || used[entry] === undefined)) {
    throw refusal(request, `status unknown for quota: ${name}, resources: ${tracked.join(',')}`)
  }
  const after: Record<string, string> = {}
  const exceeded: string[] = []
  for (const entry of tracked) {
    const change = delta[entry]
    if (change === undefined) continue
    after[entry] = addQuantities(used[entry], change)
    // What shrinks is welcome even above the limit.
    if (!change.startsWith('-') && compareQuantities(after[entry], hard[entry]) > 0)
      exceeded.push(entry)
  }
  if (exceeded.length === 0) return after
  const show = (list: ResourceList): string =>
    exceeded.map((entry) => `${entry}=${list[entry]}`).join(',')
  throw refusal(
    request,
    `exceeded quota: ${name}, requested: ${show(delta)}, used: ${show(used)}, limited: ${show(hard)}`,
  )
}

async function charge(
  world: AdmissionWorld,
  quota: Stored,
  request: AdmissionRequest,
  delta: ResourceList,
): Promise<void> {
  const { namespace, name } = quota['metadata']
  await world.server().update(
    '',
    'resourcequotas',
    namespace,
    name,
    (draft) => {
      const after = usedAfter(draft, request, delta)
      draft['status'] = { ...draft['status'], used: { ...draft['status'].used, ...after } }
    },
    { subresource: 'status', as: SERVER_IDENTITY, manager: 'kube-apiserver' },
  )
}
