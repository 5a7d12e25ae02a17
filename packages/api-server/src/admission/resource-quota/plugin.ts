/** Keeps namespaces within their quotas: judged by status.used, which is raised before the object is stored. */
import {
  isCountedResource,
  objectCountEvaluator,
  objectCountName,
  standardEvaluators,
} from '@gyropilot/api'
import type { DeviceClass, Pod, UsageEvaluator } from '@gyropilot/api'
import { SERVER_IDENTITY } from '../../auth/index.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import { STALE, conflict } from '../../http/errors.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { read, readAll } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'
import { QuotaBatches } from './batches.ts'
import { quotaRequestOf } from './judge.ts'
import type { Judged, LimitedResource } from './judge.ts'

/** `limited`: what may be consumed only under a quota, as the plug-in's configuration file says; nothing by default. */
export function resourceQuota(
  world: AdmissionWorld,
  limited: readonly LimitedResource[] = [],
): AdmissionPlugin {
  const quotasIn = (namespace: string): readonly Stored[] =>
    readAll(world, 'resourcequotas', namespace)
  const evaluatorOf = evaluators()
  const batches = new QuotaBatches({
    clock: world.clock,
    limited,
    quotasIn,
    write: (quota) => writeUsed(world, quota),
  })
  return {
    name: 'ResourceQuota',
    handles(request) {
      if (!request.resource.namespaced || !isCountedResource(request.resource)) return false
      const asked = quotaRequestOf(request)
      if (asked === undefined || !evaluatorOf(request.resource).admits(asked)) return false
      return limited.length > 0 || quotasIn(request.namespace).length > 0
    },
    validate: (request) => batches.admit(judgedOf(world, request, evaluatorOf(request.resource))),
  }
}

function evaluators(): (resource: AdmissionRequest['resource']) => UsageEvaluator {
  const known = new Map(
    standardEvaluators().map((evaluator) => [objectCountName(evaluator.resource), evaluator]),
  )
  return ({ group, resource }) => {
    const name = objectCountName({ group, resource })
    const evaluator = known.get(name) ?? objectCountEvaluator({ group, resource })
    known.set(name, evaluator)
    return evaluator
  }
}

function judgedOf(
  world: AdmissionWorld,
  request: AdmissionRequest,
  evaluator: UsageEvaluator,
): Judged {
  const facts = {
    nowMs: world.clock.nowMs(),
    extendedResourceOf(name: string): string | undefined {
      const stored = world.server().get('resource.k8s.io', 'deviceclasses', '', name)
      return (stored as DeviceClass | undefined)?.spec?.extendedResourceName
    },
    pod: (namespace: string, name: string) => read(world, 'pods', `${namespace}/${name}`) as Pod,
  }
  return { request, evaluator, facts }
}

/** Somebody else's write in between is a conflict: what was judged by is no longer true. */
async function writeUsed(world: AdmissionWorld, quota: Stored): Promise<void> {
  const { namespace, name, uid, resourceVersion } = quota['metadata']
  const resource = { group: '', resource: 'resourcequotas', kind: 'ResourceQuota' }
  await world.server().update(
    '',
    'resourcequotas',
    namespace,
    name,
    (draft) => {
      const { metadata } = draft
      if (metadata.uid !== uid || metadata.resourceVersion !== resourceVersion)
        throw conflict(resource, name, STALE)
      draft['status'] = { ...draft['status'], used: quota['status'].used }
    },
    { subresource: 'status', as: SERVER_IDENTITY, manager: 'kube-apiserver' },
  )
}
