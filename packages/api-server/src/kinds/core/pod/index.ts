/** Pods. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Core". */
import type { Draft, KindRules, Stored } from '../../../registry/kind-rules.ts'
import { podColumns, podRowConditions } from './columns.ts'
import { defaultPodSpec } from './defaults.ts'
import { qosClassOf } from './qos.ts'
import { validatePodSpec } from './spec.ts'
import { validatePodStatusUpdate } from './status-update.ts'
import { validateEphemeralUpdate, validatePodUpdate } from './update.ts'
import { podNameWarnings, podSpecWarnings } from './warnings.ts'

const GATED = 'Scheduling is blocked due to non-empty scheduling gates'

function isTerminal(pod: Stored): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
}

function restoreAllBut(
  pod: Draft,
  stored: Stored,
  change: (spec: Draft, given: Stored) => void,
): void {
  const given: Stored = pod.spec ?? {}
  pod.spec = structuredClone(stored.spec)
  if (stored.status === undefined) delete pod.status
  else pod.status = stored.status
  change(pod.spec, given)
}

export const pod: KindRules = {
  group: '',
  kind: 'Pod',
  defaults(object) {
    object.spec ??= {}
    defaultPodSpec(object.spec, false)
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending', qosClass: qosClassOf(object.spec ?? {}) }
    if ((object.spec?.schedulingGates ?? []).length > 0) {
      object.status.conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          lastProbeTime: null,
          lastTransitionTime: null,
          reason: 'SchedulingGated',
          message: GATED,
        },
      ]
    }
  },
  prepareForUpdate(object, stored) {
    if (stored.status === undefined) delete object.status
    else object.status = stored.status
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    validatePodSpec(spec, errors, 'spec')
    if ((spec.ephemeralContainers ?? []).length > 0)
      errors.forbidden('spec.ephemeralContainers', 'cannot be set on create')
    if ((spec.schedulingGates ?? []).length > 0 && spec.nodeName) {
      errors.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')
    }
  },
  updateOrder: 'update-only',
  validateUpdate(object, stored, errors) {
    validatePodSpec(object.spec ?? {}, errors, 'spec')
    validatePodUpdate(object, stored, errors)
  },
  status: {
    prepareForUpdate(object, stored) {
      if (stored.metadata.ownerReferences === undefined) delete object.metadata.ownerReferences
      else object.metadata.ownerReferences = stored.metadata.ownerReferences
      object.status ??= {}
      object.status.qosClass ??= stored.status?.qosClass
      object.status.observedGeneration ||= stored.status?.observedGeneration
      if (object.status.observedGeneration === undefined) delete object.status.observedGeneration
      if (object.status.qosClass === undefined) delete object.status.qosClass
    },
    validateUpdate: validatePodStatusUpdate,
  },
  subresources: {
    ephemeralcontainers: {
      prepareForUpdate(object, stored) {
        restoreAllBut(object, stored, (spec, given) => {
          if ((given.ephemeralContainers ?? []).length > 0)
            spec.ephemeralContainers = given.ephemeralContainers
          else delete spec.ephemeralContainers
        })
      },
      validateUpdate: validateEphemeralUpdate,
    },
    resize: {
      prepareForUpdate(object, stored) {
        restoreAllBut(object, stored, (spec, given) => {
          for (const list of ['containers', 'initContainers']) {
            for (const container of spec[list] ?? []) {
              const wanted = (given[list] ?? []).find(({ name }: Stored) => name === container.name)
              if (!wanted) continue
              container.resources = wanted.resources ?? {}
              if (wanted.resizePolicy) container.resizePolicy = wanted.resizePolicy
            }
          }
        })
      },
      validateUpdate(object, stored, errors) {
        validatePodSpec(object.spec, errors, 'spec')
        const before = stored.status?.qosClass ?? qosClassOf(stored.spec)
        const after = qosClassOf(object.spec)
        if (before !== after)
          errors.invalid('spec', after, 'Pod QOS Class may not change as a result of resizing')
      },
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
  warnings: (object) => [
    ...podNameWarnings(object),
    ...podSpecWarnings(object.spec ?? {}, object.metadata, 'spec'),
  ],
  gracePeriodSeconds(object, requestedSeconds) {
    if (!object.spec?.nodeName || isTerminal(object)) return 0
    const period = requestedSeconds ?? object.spec.terminationGracePeriodSeconds ?? 0
    return period < 0 ? 1 : period
  },
}
