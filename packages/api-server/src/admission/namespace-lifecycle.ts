import { ApiError } from '../contracts.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../contracts.ts'
import { notFound } from '../http/errors.ts'
import { read, refusal } from './world.ts'
import type { AdmissionWorld } from './world.ts'

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public'])

/** Nothing is created in a namespace that is missing or going away; three namespaces cannot be deleted. */
export function namespaceLifecycle(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles({ operation, resource, namespace, name, subresource }) {
      if (isNamespaceKind({ resource }))
        return operation === 'DELETE' && subresource === '' && IMMORTAL.has(name)
      return (
        operation === 'CREATE' && namespace !== '' && resource.kind !== 'LocalSubjectAccessReview'
      )
    },
    mutate(request) {
      if (isNamespaceKind(request)) throw refusal(request, 'this namespace may not be deleted')
      checkNamespace(world, request)
    },
  }
}

function isNamespaceKind({ resource }: Pick<AdmissionRequest, 'resource'>): boolean {
  return resource.group === '' && resource.resource === 'namespaces'
}

function checkNamespace(world: AdmissionWorld, request: AdmissionRequest): void {
  const { namespace } = request
  const stored = read(world, 'namespaces', namespace)
  if (stored === undefined)
    throw notFound({ group: '', resource: 'namespaces', kind: 'Namespace' }, namespace)
  if (
    stored['metadata'].deletionTimestamp === undefined &&
    stored['status']?.phase !== 'Terminating'
  )
    return
  const error = refusal(
    request,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  )
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  throw new ApiError(error.code, error.reason, error.message, {
    details: { ...error.details, causes: [cause] },
  })
}
