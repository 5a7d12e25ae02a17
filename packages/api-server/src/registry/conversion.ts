/**
 * Built-in kinds that are served in more than one version or group but kept once: HorizontalPodAutoscaler (v2 and v1) and
 * Event (core and events.k8s.io), and kinds in versions that are served on request. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "autoscaling".
 */
import type { ResourceInfo } from '../contracts.ts'
import { eventFromStored, eventToStored } from './event-conversion.ts'
import { autoscalerFromStored, autoscalerToStored } from './autoscaler-conversion.ts'
import { deviceConversions } from './device-conversion.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { StorageMapping } from './storage-mapping.ts'

const MUTATING_POLICIES = 'mutatingadmissionpolicies mutatingadmissionpolicybindings'
const DEVICE_KINDS = 'deviceclasses resourceclaims resourceclaimtemplates resourceslices'

/** `group/version/resource` -> the version in which it is kept. */
const KEPT: ReadonlyMap<string, string> = new Map(
  [
    ['admissionregistration.k8s.io/v1beta1', 'v1', MUTATING_POLICIES],
    ['admissionregistration.k8s.io/v1alpha1', 'v1', MUTATING_POLICIES],
    ['certificates.k8s.io/v1alpha1', 'v1beta1', 'clustertrustbundles'],
    ['coordination.k8s.io/v1alpha2', 'v1beta1', 'leasecandidates'],
    ['networking.k8s.io/v1beta1', 'v1', 'ipaddresses servicecidrs'],
    ['resource.k8s.io/v1beta2', 'v1', DEVICE_KINDS],
    ['resource.k8s.io/v1beta2', 'v1alpha3', 'devicetaintrules'],
    ['resource.k8s.io/v1beta1', 'v1', DEVICE_KINDS],
    ['storage.k8s.io/v1beta1', 'v1', 'volumeattributesclasses'],
  ].flatMap(([served, kept, resources]) =>
    resources!.split(' ').map((resource) => [`${served}/${resource}`, kept!] as const),
  ),
)

/** Of versions that have other fields, or other defaults. */
const CONVERSIONS: Readonly<Record<string, FieldConversion>> = {
  ...Object.fromEntries(
    Object.entries(deviceConversions).map(([resource, conversion]) => [
      `resource.k8s.io/v1beta1/${resource}`,
      conversion,
    ]),
  ),
  'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicybindings': {
    toStored: withDefaultAction,
  },
}

interface FieldConversion {
  toStored(object: Draft): Draft
  fromStored?(stored: Stored): Stored
}

/** Whose parameters are missing is refused, unless the binding says otherwise; later versions have it say so. */
function withDefaultAction(draft: Draft): Draft {
  const { paramRef } = draft['spec'] ?? {}
  if (!paramRef || paramRef.parameterNotFoundAction !== undefined) return draft
  return {
    ...draft,
    spec: { ...draft['spec'], paramRef: { ...paramRef, parameterNotFoundAction: 'Deny' } },
  }
}

export function conversionFor({
  group,
  version,
  resource,
}: ResourceInfo): StorageMapping | undefined {
  if (group === 'autoscaling' && resource === 'horizontalpodautoscalers') {
    const mapping = {
      collection: 'horizontalpodautoscalers.autoscaling',
      apiVersion: 'autoscaling/v2',
    }
    return version === 'v2'
      ? mapping
      : { ...mapping, toStored: autoscalerToStored, fromStored: remembered(autoscalerFromStored) }
  }
  if (group === 'events.k8s.io' && resource === 'events') {
    return {
      collection: 'events',
      apiVersion: 'v1',
      toStored: eventToStored,
      fromStored: remembered(eventFromStored),
    }
  }
  const kept = KEPT.get(`${group}/${version}/${resource}`)
  return kept === undefined ? undefined : keptIn(kept, { group, version, resource })
}

/** Most versions have the fields of the one in which they are kept, and another name. */
function keptIn(
  kept: string,
  { group, version, resource }: Pick<ResourceInfo, 'group' | 'version' | 'resource'>,
): StorageMapping {
  const apiVersion = `${group}/${kept}`
  const served = `${group}/${version}`
  const fields = CONVERSIONS[`${served}/${resource}`]
  return {
    collection: `${resource}.${group}`,
    apiVersion,
    toStored: (draft) => ({ ...(fields?.toStored(draft) ?? draft), apiVersion }),
    fromStored: remembered((stored) => ({
      ...(fields?.fromStored?.(stored) ?? stored),
      apiVersion: served,
    })),
  }
}

/** One view per stored object, so that lists, watches and pages share it. */
function remembered(convert: (stored: Stored) => Stored): (stored: Stored) => Stored {
  const views = new WeakMap<Stored, Stored>()
  return (stored) => {
    let view = views.get(stored)
    if (view === undefined) {
      view = convert(stored)
      views.set(stored, view)
    }
    return view
  }
}
