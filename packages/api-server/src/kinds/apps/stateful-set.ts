import type {
  PersistentVolumeClaim,
  PodTemplateSpec,
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
  Volume,
} from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { DraftOf, KindRules, Stored, StoredOf } from '../../registry/kind-rules.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import {
  invalidAll,
  isConvertibleSelector,
  isEmptySelector,
  selectorMatches,
  validateLabelSelector,
} from '@gyropilot/schema/validation/labels'
import { validateTemplateMetadata } from '@gyropilot/schema/validation/metadata'
import { dnsLabel } from '@gyropilot/schema/validation/names'
import {
  isZeroIntOrPercent,
  validateAtMost100Percent,
  validateIntOrPercent,
  validateNonNegative,
} from '@gyropilot/schema/validation/numbers'
import { givenValue } from '@gyropilot/schema/decode'
import { containerCells, tableColumns } from '../columns.ts'
import { validateClaimSpec } from '../core/persistent-volume-claim-spec.ts'
import { defaultClaim } from '../core/persistent-volume-claim.ts'
import { defaultTemplate } from '../core/pod/defaults.ts'
import { validateTemplate } from '../core/pod/spec.ts'
import { claimSpecWarnings } from '../core/persistent-volume-claim-spec.ts'
import { isSpecifiedAnew, podTemplateWarnings } from '../core/pod/warnings.ts'
import {
  printedSelector,
  validateCollisionCount,
  validateReplicaCounters,
} from '../workload-template.ts'

const MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const
const FORBIDDEN =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

function validateStrategy(
  strategy: StoredOf<StatefulSetUpdateStrategy>,
  errors: FieldErrors,
): void {
  const rolling = strategy.rollingUpdate
  if (!strategy.type) errors.required('spec.updateStrategy')
  else if (strategy.type === 'OnDelete') {
    if (rolling)
      errors.invalid(
        'spec.updateStrategy.rollingUpdate',
        rollingForm(rolling),
        "only allowed for updateStrategy 'RollingUpdate'",
      )
  } else if (strategy.type === 'RollingUpdate') {
    validateNonNegative(rolling?.partition, errors, 'spec.updateStrategy.rollingUpdate.partition')
    if (rolling?.maxUnavailable !== undefined) {
      const at = 'spec.updateStrategy.rollingUpdate.maxUnavailable'
      validateIntOrPercent(rolling.maxUnavailable, errors, at)
      if (isZeroIntOrPercent(rolling.maxUnavailable))
        errors.invalid(at, rolling.maxUnavailable, 'cannot be 0')
      validateAtMost100Percent(rolling.maxUnavailable, errors, at)
    }
  } else
    errors.invalid(
      'spec.updateStrategy',
      { Type: strategy.type, RollingUpdate: rolling ? rollingForm(rolling) : null },
      "must be 'RollingUpdate' or 'OnDelete'",
    )
}

function rollingForm(rolling: StoredOf<RollingUpdateStatefulSetStrategy>): Stored {
  return { Partition: rolling.partition ?? 0, MaxUnavailable: rolling.maxUnavailable ?? null }
}

/** What an update does not check again, because it cannot change or was stored as it is. */
interface Leniency {
  readonly claimsAndServiceName?: boolean
  readonly template?: boolean
}

function validateSpec(
  spec: StoredOf<StatefulSetSpec>,
  errors: FieldErrors,
  skip: Leniency = {},
): void {
  if (!spec.podManagementPolicy) errors.required('spec.podManagementPolicy')
  else if (!['OrderedReady', 'Parallel'].includes(spec.podManagementPolicy)) {
    errors.invalid(
      'spec.podManagementPolicy',
      spec.podManagementPolicy,
      "must be 'OrderedReady' or 'Parallel'",
    )
  }
  validateStrategy(spec.updateStrategy ?? {}, errors)
  for (const field of ['whenDeleted', 'whenScaled'] as const) {
    const value = spec.persistentVolumeClaimRetentionPolicy?.[field]
    if (value !== undefined && !['Retain', 'Delete'].includes(value)) {
      errors.notSupported(`spec.persistentVolumeClaimRetentionPolicy.${field}`, value, [
        'Retain',
        'Delete',
      ])
    }
  }
  if (!skip.claimsAndServiceName) {
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries())
      validateClaimSpec(claim.spec ?? {}, errors, `spec.volumeClaimTemplates[${index}].spec`)
  }
  validateNonNegative(spec.replicas, errors, 'spec.replicas')
  validateNonNegative(spec.minReadySeconds, errors, 'spec.minReadySeconds')
  validateNonNegative(spec.ordinals?.start, errors, 'spec.ordinals.start')
  if (!skip.claimsAndServiceName && spec.serviceName)
    invalidAll(errors, 'spec.serviceName', spec.serviceName, dnsLabel(spec.serviceName))
  validateSelectorAndPods(spec, errors, skip.template === true)
  const template = spec.template ?? {}
  const policy = template.spec?.restartPolicy
  if (policy !== 'Always')
    errors.notSupported('spec.template.spec.restartPolicy', policy ?? '', ['Always'])
  if (template.spec?.activeDeadlineSeconds !== undefined) {
    errors.forbidden(
      'spec.template.spec.activeDeadlineSeconds',
      'activeDeadlineSeconds in StatefulSet is not Supported',
    )
  }
}

function validateSelectorAndPods(
  spec: StoredOf<StatefulSetSpec>,
  errors: FieldErrors,
  skipPods: boolean,
): void {
  const selector = spec.selector
  const template = spec.template ?? {}
  if (!selector) errors.required('spec.selector')
  else {
    validateLabelSelector(selector, errors, 'spec.selector')
    if (isEmptySelector(selector))
      errors.invalid('spec.selector', {}, 'empty selector is invalid for statefulset')
    if (!isConvertibleSelector(selector)) {
      errors.invalid('spec.selector', printedSelector(selector), '')
      return
    }
  }
  if (
    !selector ||
    !(isEmptySelector(selector) || selectorMatches(selector, template.metadata?.labels))
  ) {
    errors.invalid(
      'spec.template.metadata.labels',
      givenValue(template.metadata, 'labels'),
      '`selector` does not match template `labels`',
    )
  }
  if (!skipPods)
    validateTemplate(podsOf(template, spec.volumeClaimTemplates), errors, 'spec.template')
  // Labels and annotations are reported twice: by the template, and by the kind.
  validateTemplateMetadata(template.metadata, errors, 'spec.template')
}

/** The template without what the controller overwrites in every pod: host name and subdomain. */
function podsOf(
  template: StoredOf<PodTemplateSpec>,
  claims: readonly StoredOf<PersistentVolumeClaim>[] | undefined,
): StoredOf<PodTemplateSpec> {
  const { hostname: _hostname, subdomain: _subdomain, ...spec } = template.spec ?? {}
  return withClaimVolumes({ ...template, spec }, claims)
}

/** Pods get a volume for each claim template, so that containers may mount them by name. */
function withClaimVolumes(
  template: StoredOf<PodTemplateSpec>,
  claims: readonly StoredOf<PersistentVolumeClaim>[] | undefined,
): StoredOf<PodTemplateSpec> {
  if ((claims ?? []).length === 0) return template
  // Of two with one name there is one claim.
  const names = new Set(claims!.map((claim): string => claim.metadata?.name ?? ''))
  const volumes = [...names].map((name): StoredOf<Volume> => ({
    name,
    persistentVolumeClaim: { claimName: name },
  }))
  const others = (template.spec?.volumes ?? []).filter(({ name = '' }) => !names.has(name))
  return { ...template, spec: { ...template.spec, volumes: [...volumes, ...others] } }
}

function withoutMutable(spec: StoredOf<StatefulSetSpec> | undefined): DraftOf<StatefulSetSpec> {
  const rest: DraftOf<StatefulSetSpec> = { ...spec }
  for (const field of MUTABLE) delete rest[field]
  return rest
}

function defaults(object: DraftOf<StatefulSet>): void {
  const spec = (object.spec ??= {})
  spec.podManagementPolicy ||= 'OrderedReady'
  spec.updateStrategy ??= {}
  if (!spec.updateStrategy.type) {
    spec.updateStrategy.type = 'RollingUpdate'
    spec.updateStrategy.rollingUpdate ??= {}
  }
  if (spec.updateStrategy.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate)
    spec.updateStrategy.rollingUpdate.partition ??= 0
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {})
  retention.whenDeleted ||= 'Retain'
  retention.whenScaled ||= 'Retain'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= 10
  defaultTemplate(spec.template)
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.kind = 'PersistentVolumeClaim'
    claim.apiVersion = 'v1'
    defaultClaim(claim)
  }
}

export const statefulSet: KindRules<StatefulSet> = {
  group: 'apps',
  kind: 'StatefulSet',
  name: 'label',
  defaults,
  withGates: {
    MaxUnavailableStatefulSet: {
      defaults(object) {
        defaults(object)
        const { type, rollingUpdate } = object.spec?.updateStrategy ?? {}
        if (type === 'RollingUpdate' && rollingUpdate) rollingUpdate.maxUnavailable ??= 1
      },
    },
  },
  validate: (object, errors) => validateSpec(object.spec ?? {}, errors),
  updateOrder: 'update-only',
  validateUpdate(object, stored, errors) {
    const before = new FieldErrors()
    validateSpec(stored.spec ?? {}, before, { claimsAndServiceName: true })
    validateSpec(object.spec ?? {}, errors, {
      claimsAndServiceName: true,
      template: before.list.length > 0,
    })
    if (!deepEqual(withoutMutable(object.spec), withoutMutable(stored.spec)))
      errors.forbidden('spec', FORBIDDEN)
  },
  status: {
    validateUpdate(object, stored, errors) {
      const status = object.status ?? {}
      validateReplicaCounters(
        status,
        [
          'replicas',
          'readyReplicas',
          'currentReplicas',
          'updatedReplicas',
          'availableReplicas',
          'observedGeneration',
          'collisionCount',
        ],
        errors,
      )
      const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
      for (const field of [
        'readyReplicas',
        'currentReplicas',
        'updatedReplicas',
        'availableReplicas',
      ] as const) {
        if ((status[field] ?? 0) > replicas)
          errors.invalid(
            `status.${field}`,
            status[field] ?? 0,
            'cannot be greater than status.replicas',
          )
      }
      if (availableReplicas > readyReplicas)
        errors.invalid(
          'status.availableReplicas',
          availableReplicas,
          'cannot be greater than status.readyReplicas',
        )
      validateCollisionCount(status, stored, errors)
    },
  },
  warnings(object, stored) {
    const spec = object.spec ?? {}
    // kube-apiserver names the field so in updates only.
    const part = stored === undefined ? '' : '.Spec'
    const list = isSpecifiedAnew(object, stored) ? podTemplateWarnings(spec.template) : []
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries())
      list.push(...claimSpecWarnings(claim.spec, `spec.volumeClaimTemplates[${index}]${part}`))
    if ((spec.revisionHistoryLimit ?? 0) < 0) {
      list.push(
        'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
      )
    }
    return list
  },
  columns: tableColumns('apps/statefulsets', {
    Ready: (object) => `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    ...containerCells,
  }),
}
