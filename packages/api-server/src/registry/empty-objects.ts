/** Objects of a kind with nothing in them: what bookmarks carry. Contract: docs/behaviour/api-server/storage-and-watch.md, "Frames". */
import { decodeObject } from '@gyropilot/schema/decode'
import type { ResourceInfo } from '../contracts.ts'
import type { Draft } from '@gyropilot/schema/objects'

const SCALED: Draft = { spec: { replicas: 0, selector: null } }

/** What shows in addition: values that Go keeps elsewhere as plain ones and converts back. Undefined: does not show. */
const CONVERTED: Readonly<Record<string, Draft>> = {
  'apps/Deployment': SCALED,
  'apps/ReplicaSet': SCALED,
  'apps/StatefulSet': SCALED,
  'apps/DaemonSet': {
    metadata: { annotations: { 'deprecated.daemonset.template.generation': '0' } },
    spec: { selector: null },
  },
  'apps/ControllerRevision': { data: null },
  'certificates.k8s.io/CertificateSigningRequest': { spec: { request: null } },
  'apiextensions.k8s.io/CustomResourceDefinition': { status: { storedVersions: null } },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': {
    spec: { validationActions: undefined },
  },
}

export function emptyObjectOf(info: ResourceInfo): Draft {
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    metadata: _metadata,
    ...rest
  } = decodeObject(info, {})?.object ?? {}
  return overlaid(rest, CONVERTED[`${info.group}/${info.kind}`] ?? {})
}

function overlaid(object: Draft, more: Draft): Draft {
  const result: Draft = { ...object }
  for (const [key, value] of Object.entries(more)) {
    if (value === undefined) delete result[key]
    else result[key] = isGroup(value) ? overlaid(result[key] ?? {}, value) : value
  }
  return result
}

function isGroup(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null
}
