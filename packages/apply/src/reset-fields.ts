/**
 * Paths that an endpoint always overwrites, and so are neither owned nor in conflict there.
 * Contract: docs/behaviour/api-server/patch-and-apply.md, Reset fields.
 */
import type { FieldFilter } from './compare.ts'
import { setOf } from './field-set.ts'

const SPEC = { ignored: setOf(['f:spec']) }
const STATUS = { ignored: setOf(['f:status']) }
const SPEC_AND_METADATA = { ignored: setOf(['f:spec'], ['f:metadata']) }
const NOTHING: FieldFilter = {}

/** Keyed by `<resource>.<group>/<subresource>`; without a subresource, the object itself. */
const BY_ENDPOINT: Readonly<Record<string, FieldFilter>> = {
  'deployments.apps/status': { ignored: setOf(['f:spec'], ['f:metadata', 'f:labels']) },
  'pods/status': {
    ignored: setOf(
      ['f:spec'],
      ['f:metadata', 'f:deletionTimestamp'],
      ['f:metadata', 'f:ownerReferences'],
    ),
  },
  // Nobody changes what was asked for, so nobody owns it.
  'certificatesigningrequests.certificates.k8s.io/': { ignored: setOf(['f:spec'], ['f:status']) },
  'certificatesigningrequests.certificates.k8s.io/status': {
    ignored: setOf(['f:spec'], ['f:status', 'f:conditions']),
  },
  'certificatesigningrequests.certificates.k8s.io/approval': {
    ignored: setOf(['f:spec'], ['f:status', 'f:certificate']),
  },
  'validatingadmissionpolicies.admissionregistration.k8s.io/status': SPEC_AND_METADATA,
  'flowschemas.flowcontrol.apiserver.k8s.io/status': SPEC_AND_METADATA,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/status': SPEC_AND_METADATA,
  'volumeattachments.storage.k8s.io/status': SPEC_AND_METADATA,
  'servicecidrs.networking.k8s.io/status': SPEC_AND_METADATA,
  'apiservices.apiregistration.k8s.io/status': SPEC_AND_METADATA,
  'resourceclaims.resource.k8s.io/status': SPEC_AND_METADATA,
  'resourcepoolstatusrequests.resource.k8s.io/status': SPEC_AND_METADATA,
  'devicetaintrules.resource.k8s.io/status': SPEC_AND_METADATA,
  // The server forgets to say that it takes no status there.
  'podcertificaterequests.certificates.k8s.io/': NOTHING,
  'podgroups.scheduling.k8s.io/': NOTHING,
  'podgroups.scheduling.k8s.io/status': SPEC_AND_METADATA,
  'namespaces/finalize': STATUS,
}

/** What a write to the endpoint of a built-in kind neither owns nor fights for. */
export function resetFields(
  group: string,
  resource: string,
  subresource: string,
  hasStatusSubresource: boolean,
): FieldFilter {
  const endpoint = `${group === '' ? resource : `${resource}.${group}`}/${subresource}`
  const own = BY_ENDPOINT[endpoint]
  if (own !== undefined) return own
  if (subresource === '') return hasStatusSubresource ? STATUS : NOTHING
  return subresource === 'status' ? SPEC : NOTHING
}

/** The same for custom resources. What else stands at their root is put back by a write of the status, but owned by who sent it. */
export function resetFieldsOfCustomResource(
  subresource: string,
  hasStatusSubresource: boolean,
): FieldFilter {
  if (subresource === 'status') return SPEC_AND_METADATA
  return hasStatusSubresource ? STATUS : NOTHING
}
