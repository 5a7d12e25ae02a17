/** The scale subresource of a custom resource. Contract: docs/behaviour/api-server/custom-resources.md, Subresources. */
import type { SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { badRequest, conflict, internalError, notFound } from '../http/errors.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'
import { storageError } from '../registry/storage-errors.ts'
import { setAt, valueAt } from './schemas/structural-schema.ts'

export function customScale(group: string, resource: string, paths: Stored): SubresourceHandler {
  return {
    group,
    resource,
    subresource: 'scale',
    methods: ['GET', 'HEAD', 'PUT', 'PATCH'],
    async handle(call) {
      const stored = call.server.get(group, resource, call.namespace, call.name)
      if (stored === undefined) throw notFound(call.resource, call.name)
      // The paths are those of the version asked for.
      if (call.method === 'GET') {
        const current = await call.server.view(call.resource, stored)
        const absent = call.isForPatch === true ? NEVER_SET : undefined
        return { code: 200, body: scaleOf(current, paths, absent) }
      }
      const wanted = call.body ?? {}
      checkScale(wanted, paths)
      const change = (draft: Draft): void => setReplicas(call, draft, wanted, paths)
      const { manager } = call
      const options = {
        subresource: 'scale',
        version: call.resource.version,
        dryRun: call.dryRun,
        warn: call.warn,
        as: call.user,
        ...(manager === undefined ? {} : { manager }),
        appliedFields: call.appliedFields,
        admissionOptions: call.admissionOptions,
        admissionView: {
          sent: wanted,
          of: (object: Stored) => scaleOf(object, paths, 0) as Draft,
          into: (draft: Draft, { spec }: Stored) =>
            setAt(draft, paths['specReplicasPath'], spec?.replicas ?? 0),
        },
      }
      const written = await call.server.update(
        group,
        resource,
        call.namespace,
        call.name,
        change,
        options,
      )
      // What is not kept of the replicas reads as none.
      return { code: 200, body: scaleOf(await call.server.view(call.resource, written), paths, 0) }
    },
  }
}

/** What a patch finds where there are no replicas: it has to name some. */
const NEVER_SET = -2_147_483_648

function checkScale(wanted: Stored, paths: Stored): void {
  const path: string = paths['specReplicasPath']
  if (wanted['spec']?.replicas === NEVER_SET)
    throw badRequest(`the spec replicas field ${JSON.stringify(path)} cannot be empty`)
}

function setReplicas(call: SubresourceCall, draft: Draft, wanted: Stored, paths: Stored): void {
  const { uid, resourceVersion } = wanted['metadata'] ?? {}
  if (call.method === 'PUT' && uid && uid !== draft['metadata'].uid) {
    const { resource, namespace, name, dryRun } = call
    const key = `${resource.group}/${resource.resource}/${namespace === '' ? '' : `${namespace}/`}${name}`
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${draft['metadata'].uid}`
    throw conflict(resource, name, storageError(key, why, dryRun))
  }
  // Judged as that of the object.
  if (resourceVersion) draft['metadata'].resourceVersion = resourceVersion
  setAt(draft, paths['specReplicasPath'], wanted['spec']?.replicas ?? 0)
}

/** `absent`: what stands for replicas that the object does not name; undefined: it has no scale then. */
function scaleOf(object: Stored, paths: Stored, absent?: number): Stored {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = paths
  const replicas = valueAt(object, specReplicasPath) ?? absent
  if (replicas === undefined) {
    throw internalError(
      `the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`,
    )
  }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object['metadata']
  const selector = labelSelectorPath === undefined ? undefined : valueAt(object, labelSelectorPath)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    // Zero is the empty value of the field.
    spec: replicas ? { replicas } : {},
    status: {
      replicas: valueAt(object, statusReplicasPath) ?? 0,
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  }
}
