/** Pods. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Core". */
import type { Pod, PodSpec, PodStatus } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { DraftOf, KindRules, StoredOf } from '../../../registry/kind-rules.ts'
import { isMirrorPod, adoptProfileAnnotations, validateProfileAnnotations } from './annotations.ts'
import { podColumns, podRowConditions } from './columns.ts'
import { defaultPodResources, defaultPodSpec } from './defaults.ts'
import { qosClassOf } from './qos.ts'
import { resizedSpec, validatePodResize } from './resize.ts'
import { mergeMatchLabelKeys } from './scheduling.ts'
import { validatePod } from './spec.ts'
import { keep } from '../../../registry/kept-field.ts'
import {
  keepObservedGenerations,
  podStatusWarnings,
  validatePodStatusUpdate,
} from './status-update.ts'
import { validateEphemeralUpdate, validatePodUpdate } from './update.ts'
import { podNameWarnings, podSpecWarnings } from './warnings.ts'

const GATED = 'Scheduling is blocked due to non-empty scheduling gates'

function isTerminal(pod: StoredOf<Pod>): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
}

const METADATA_OF_THE_MAIN_RESOURCE = [
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'deletionTimestamp',
] as const

/** Of what was sent, a subresource takes its own part of the spec. */
function restoreAllBut(pod: DraftOf<Pod>, stored: StoredOf<Pod>, spec: DraftOf<PodSpec>): void {
  pod.spec = spec
  keep(pod, stored, 'status')
  pod.metadata = { ...pod.metadata }
  for (const field of METADATA_OF_THE_MAIN_RESOURCE)
    keep(pod.metadata, stored.metadata ?? {}, field)
}

export const pod: KindRules<Pod> = {
  group: '',
  kind: 'Pod',
  defaults(object) {
    object.spec ??= {}
    defaultPodSpec(object.spec)
    agreeOnAddresses(object.status)
  },
  // Admission may have given requests to the containers. The spec may be what is stored.
  canonicalize(object) {
    if (!object.spec?.resources) return
    object.spec = { ...object.spec, resources: { ...object.spec.resources } }
    defaultPodResources(object.spec)
  },
  prepareForCreate(object, { nowMs, warn }) {
    mergeMatchLabelKeys(object)
    if (object.spec)
      adoptProfileAnnotations(object.metadata?.annotations, object.spec, (text) => warn?.(text))
    leastGrace(object.spec)
    const status: DraftOf<PodStatus> = (object.status = {
      phase: 'Pending',
      // The class is not computed where one is given, whatever it is.
      qosClass: object.status?.qosClass || qosClassOf(object.spec ?? {}),
    })
    if ((object.spec?.schedulingGates ?? []).length > 0) {
      status.conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          // A time that never was is written as null.
          lastProbeTime: null!,
          lastTransitionTime: formatTime(nowMs),
          reason: 'SchedulingGated',
          message: GATED,
        },
      ]
    }
  },
  prepareForUpdate(object, stored) {
    leastGrace(object.spec)
    if (stored.status === undefined) delete object.status
    else object.status = stored.status
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    validatePod(object, errors)
    if ((spec.resourceClaims ?? []).length > 0 && isMirrorPod(object))
      errors.forbidden('[]', 'static pods do not support resource claims')
    if ((spec.ephemeralContainers ?? []).length > 0)
      errors.forbidden('spec.ephemeralContainers', 'cannot be set on create')
    if ((spec.schedulingGates ?? []).length > 0 && spec.nodeName) {
      errors.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')
    }
    validateProfileAnnotations(object.metadata?.annotations, spec, errors, 'spec')
  },
  updateOrder: 'update-only',
  validateUpdate(object, stored, errors) {
    validatePod(object, errors)
    validatePodUpdate(object, stored, errors)
  },
  status: {
    prepareForUpdate(object, stored) {
      for (const field of ['ownerReferences', 'deletionTimestamp'] as const)
        keep((object.metadata ??= {}), stored.metadata ?? {}, field)
      object.status ??= {}
      object.status.qosClass ??= stored.status?.qosClass
      keepObservedGenerations(object.status, stored.status ?? {})
      if (object.status.qosClass === undefined) delete object.status.qosClass
    },
    validateUpdate: validatePodStatusUpdate,
    warnings: podStatusWarnings,
  },
  subresources: {
    binding: { metadataUnchecked: true },
    ephemeralcontainers: {
      prepareForUpdate(object, stored) {
        const spec: DraftOf<PodSpec> = structuredClone(stored.spec ?? {})
        keep(spec, object.spec ?? {}, 'ephemeralContainers')
        if ((spec.ephemeralContainers ?? []).length === 0) delete spec.ephemeralContainers
        restoreAllBut(object, stored, spec)
      },
      validateUpdate: validateEphemeralUpdate,
    },
    resize: {
      prepareForUpdate(object, stored) {
        const given = object.spec ?? {}
        const spec = resizedSpec(given, stored.spec ?? {})
        const { status } = object
        restoreAllBut(object, stored, spec)
        // What is no resize is refused as it was sent.
        if (spec === given && status !== undefined) object.status = status
        else if (spec === given) delete object.status
      },
      validateUpdate: validatePodResize,
    },
  },
  generationOf: (object) => object.spec,
  selectableFields: {
    'spec.nodeName': (object) => object.spec?.nodeName ?? '',
    'spec.host': (object) => object.spec?.nodeName ?? '',
    'spec.restartPolicy': (object) => object.spec?.restartPolicy ?? '',
    'spec.schedulerName': (object) => object.spec?.schedulerName ?? '',
    'spec.serviceAccountName': (object) => object.spec?.serviceAccountName ?? '',
    'spec.hostNetwork': (object) => String(object.spec?.hostNetwork === true),
    'status.phase': (object) => object.status?.phase ?? '',
    'status.podIP': (object) => object.status?.podIPs?.[0]?.ip ?? object.status?.podIP ?? '',
    'status.podIPs': (object) => object.status?.podIPs?.[0]?.ip ?? object.status?.podIP ?? '',
    'status.nominatedNodeName': (object) => object.status?.nominatedNodeName ?? '',
  },
  columns: podColumns,
  rowConditions: podRowConditions,
  // People write pods once; what writes them again is a program.
  warnings: (object, stored) =>
    stored === undefined
      ? [...podNameWarnings(object), ...podSpecWarnings(object.spec ?? {}, object.metadata, 'spec')]
      : [],
  gracePeriodSeconds(object, requestedSeconds) {
    if (!object.spec?.nodeName || isTerminal(object)) return 0
    const period = requestedSeconds ?? object.spec.terminationGracePeriodSeconds ?? 0
    return period < 0 ? 1 : period
  },
}

/** The one address and the first of the list are one: who tells both apart means the former. */
function agreeOnAddresses(status: DraftOf<PodStatus> | undefined): void {
  if (status === undefined) return
  const { podIP, podIPs } = status
  if (podIP) {
    if (podIPs?.[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }]
  } else if (podIPs?.[0]?.ip) status.podIP = podIPs[0].ip
}

/** Of pods only: in a template it stays as it is. */
function leastGrace(spec: DraftOf<PodSpec> | undefined): void {
  if ((spec?.terminationGracePeriodSeconds ?? 0) < 0) spec!.terminationGracePeriodSeconds = 1
}
