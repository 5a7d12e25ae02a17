/** The number of replicas of a workload, in one shape for all kinds. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Scale". */
import { labelQueryOf, labelQueryOfLabels } from '@gyropilot/api'
import type { ApiError, SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { conflict, invalid } from '../http/errors.ts'
import { storageError, storagePrefix } from '../registry/storage-errors.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { nameCheckOf, validateMetadata } from '@gyropilot/schema/validation/metadata'
import { parentOf } from './answers.ts'

export const scales: readonly SubresourceHandler[] = [
  scaleOf('apps', 'deployments'),
  scaleOf('apps', 'replicasets'),
  scaleOf('apps', 'statefulsets'),
  scaleOf('', 'replicationcontrollers'),
]

function scaleOf(group: string, resource: string): SubresourceHandler {
  return {
    group,
    resource,
    subresource: 'scale',
    methods: ['GET', 'PUT', 'PATCH'],
    async handle(call) {
      const current = parentOf(call)
      if (call.method === 'GET') return { code: 200, body: scaleView(current) }
      const wanted = call.body!
      const { appliedFields } = call
      const disown = appliedFields === undefined && (wanted['spec']?.replicas ?? 0) === 0
      const written = await call.server.update(
        group,
        resource,
        call.namespace,
        call.name,
        (parent) => setReplicas(call, parent, wanted),
        {
          subresource: 'scale',
          dryRun: call.dryRun,
          warn: call.warn,
          as: call.user,
          manager: disown ? '' : (call.manager ?? ''),
          appliedFields,
          admissionOptions: call.admissionOptions,
          admissionView: {
            sent: wanted,
            of: (object) => scaleView(object) as Draft,
            into(draft, { spec }) {
              draft['spec'].replicas = spec?.replicas ?? 0
            },
          },
        },
      )
      return { code: 200, body: scaleView(written) }
    },
  }
}

/** Nothing of a Scale's metadata is stored, and it is judged all the same. */
function checkScale({ namespace, name }: SubresourceCall, { metadata, spec }: Stored): void {
  const errors = new FieldErrors()
  const judged = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { ...metadata, namespace, name, managedFields: undefined },
  }
  validateMetadata(judged, true, nameCheckOf({}), errors)
  const replicas: number = spec?.replicas ?? 0
  if (replicas < 0) errors.invalid('spec.replicas', replicas, 'must be greater than or equal to 0')
  if (errors.list.length > 0) throw invalid('autoscaling', 'Scale', name, errors.list)
}

/** A patch is refused as one of the Scale, and not before the Scale was judged: it never comes to the storage of the parent. */
function otherUid(
  { method, resource, namespace, name, dryRun }: SubresourceCall,
  why: string,
): ApiError {
  if (method === 'PATCH')
    return conflict({ ...resource, resource: `${resource.resource}/scale` }, name, why)
  const key = `${storagePrefix(resource.resource)}/${namespace}/${name}`
  return conflict(resource, name, storageError(key, why, dryRun))
}

/** Only spec.replicas is taken; uid and version are preconditions when given. */
function setReplicas(call: SubresourceCall, parent: Draft, wanted: Stored): void {
  const { uid, resourceVersion } = wanted['metadata'] ?? {}
  const { metadata } = parent
  if (call.method === 'PATCH') checkScale(call, wanted)
  if (uid && uid !== metadata.uid) {
    throw otherUid(
      call,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    )
  }
  if (call.method === 'PUT') checkScale(call, wanted)
  // Judged as that of the parent: 0 is any.
  if (resourceVersion) metadata.resourceVersion = resourceVersion
  parent['spec'].replicas = wanted['spec']?.replicas ?? 0
  if (parent['spec'].replicas === 0 && call.appliedFields === undefined) disownReplicas(metadata)
}

/**
 * In a Scale zero is no field at all, so that scaling to zero leaves nobody as the owner of the number. An applied
 * configuration is not a Scale yet: who applies a zero owns it.
 */
function disownReplicas(metadata: Draft): void {
  const entries: Draft[] | undefined = metadata['managedFields']
  if (entries === undefined) return
  const left: Draft[] = []
  for (const entry of entries) {
    const { 'f:replicas': replicas, ...spec } = entry['fieldsV1']?.['f:spec'] ?? {}
    if (replicas === undefined) {
      left.push(entry)
      continue
    }
    const { 'f:spec': _spec, ...others } = entry['fieldsV1']
    const fieldsV1 = Object.keys(spec).length === 0 ? others : { ...others, 'f:spec': spec }
    if (Object.keys(fieldsV1).length > 0) left.push({ ...entry, fieldsV1 })
  }
  metadata['managedFields'] = left
}

function scaleView({ metadata, spec, status }: Stored): Stored {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  const selector = spec.selector === undefined ? '' : selectorText(spec.selector)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // Zero is the empty value of the field.
    spec: spec.replicas ? { replicas: spec.replicas } : {},
    status: { replicas: status?.replicas ?? 0, ...(selector === '' ? {} : { selector }) },
  }
}

/** ReplicationControllers select by a plain map. */
function selectorText(selector: Stored): string {
  const isLabelSelector = Object.values(selector).every((value) => typeof value !== 'string')
  return (isLabelSelector ? labelQueryOf(selector) : labelQueryOfLabels(selector)).toString()
}
