import type { Deployment, DeploymentStrategy } from '@gyropilot/api'
import { ConversionError } from '@gyropilot/schema'
import { integerProblem } from '@gyropilot/schema/go-integer'
import type { DraftOf, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import {
  isZeroIntOrPercent,
  validateAtMost100Percent,
  validateIntOrPercent,
  validateNonNegative,
} from '@gyropilot/schema/validation/numbers'
import { containerCells, selectorText, tableColumns } from '../columns.ts'
import { defaultTemplate } from '../core/pod/defaults.ts'
import { isSpecifiedAnew, podTemplateWarnings, workloadNameWarnings } from '../core/pod/warnings.ts'
import {
  validateCollisionCount,
  validateReplicaCounters,
  validateSelectorAndTemplate,
  validateSelectorUnchanged,
} from '../workload-template.ts'

export function templateWarnings(
  object: StoredOf<Deployment>,
  stored: StoredOf<Deployment> | undefined,
): string[] {
  if (!isSpecifiedAnew(object, stored)) return []
  return [...workloadNameWarnings(object, stored), ...podTemplateWarnings(object.spec?.template)]
}

function validateStrategy(strategy: StoredOf<DeploymentStrategy>, errors: FieldErrors): void {
  const rolling = strategy.rollingUpdate
  const at = 'spec.strategy.rollingUpdate'
  if (strategy.type === 'Recreate') {
    if (rolling) errors.forbidden(at, "may not be specified when strategy `type` is 'Recreate'")
  } else if (strategy.type === 'RollingUpdate') {
    if (!rolling) {
      errors.required(at, 'this should be defaulted and never be nil')
      return
    }
    validateIntOrPercent(rolling.maxUnavailable, errors, `${at}.maxUnavailable`)
    validateIntOrPercent(rolling.maxSurge, errors, `${at}.maxSurge`)
    if (isZeroIntOrPercent(rolling.maxUnavailable) && isZeroIntOrPercent(rolling.maxSurge)) {
      errors.invalid(
        `${at}.maxUnavailable`,
        rolling.maxUnavailable ?? 0,
        'may not be 0 when `maxSurge` is 0',
      )
    }
    validateAtMost100Percent(rolling.maxUnavailable, errors, `${at}.maxUnavailable`)
  } else {
    const printed = rolling && {
      MaxUnavailable: rolling.maxUnavailable ?? 0,
      MaxSurge: rolling.maxSurge ?? 0,
    }
    errors.notSupported(
      'spec.strategy',
      { Type: strategy.type ?? '', RollingUpdate: printed ?? null },
      ['Recreate', 'RollingUpdate'],
    )
  }
}

const COUNTERS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
] as const

function validateStatus(
  object: StoredOf<Deployment>,
  stored: StoredOf<Deployment>,
  errors: FieldErrors,
): void {
  const status = object.status ?? {}
  validateReplicaCounters(status, COUNTERS, errors)
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  const limit = (field: string, value: number, maximum: number, name: string): void => {
    if (value > maximum) errors.invalid(`status.${field}`, value, `cannot be greater than ${name}`)
  }
  limit('updatedReplicas', updatedReplicas, replicas, 'status.replicas')
  limit('readyReplicas', readyReplicas, replicas, 'status.replicas')
  limit('availableReplicas', availableReplicas, replicas, 'status.replicas')
  limit('availableReplicas', availableReplicas, readyReplicas, 'readyReplicas')
  validateCollisionCount(status, stored, errors)
}

const ROLLBACK = 'deprecated.deployment.rollback.to'

/** The revision to go back to was a field once, and is one still inside the server: of an annotation it is made a number. */
function convertRollback({ metadata }: DraftOf<Deployment>): void {
  const text = metadata?.annotations?.[ROLLBACK]
  if (text === undefined) return
  if (text === '') return setRollback(metadata!, undefined)
  const problem = integerProblem(text)
  if (problem !== undefined)
    throw new ConversionError(
      `failed to parse annotation[${ROLLBACK}]=${text} as int64: ${problem}`,
    )
  setRollback(metadata!, String(BigInt(text)))
}

function setRollback(
  metadata: NonNullable<DraftOf<Deployment>['metadata']>,
  revision: string | undefined,
): void {
  if (metadata.annotations?.[ROLLBACK] === revision) return
  const { [ROLLBACK]: _, ...others } = metadata.annotations ?? {}
  if (revision !== undefined) metadata.annotations = { ...others, [ROLLBACK]: revision }
  else if (Object.keys(others).length > 0) metadata.annotations = others
  else delete metadata.annotations
}

export const deployment: KindRules<Deployment> = {
  group: 'apps',
  kind: 'Deployment',
  defaults(object) {
    convertRollback(object)
    const spec = (object.spec ??= {})
    spec.replicas ??= 1
    spec.strategy ??= {}
    spec.strategy.type ||= 'RollingUpdate'
    if (spec.strategy.type === 'RollingUpdate') {
      const rolling = (spec.strategy.rollingUpdate ??= {})
      rolling.maxUnavailable ??= '25%'
      rolling.maxSurge ??= '25%'
    }
    spec.revisionHistoryLimit ??= 10
    spec.progressDeadlineSeconds ??= 600
    defaultTemplate(spec.template)
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    validateNonNegative(spec.replicas, errors, 'spec.replicas')
    validateSelectorAndTemplate(spec, 'deployment', errors)
    validateStrategy(spec.strategy ?? {}, errors)
    validateNonNegative(spec.minReadySeconds, errors, 'spec.minReadySeconds')
    validateNonNegative(spec.revisionHistoryLimit, errors, 'spec.revisionHistoryLimit')
    validateNonNegative(spec.progressDeadlineSeconds, errors, 'spec.progressDeadlineSeconds')
    if (
      spec.progressDeadlineSeconds !== undefined &&
      spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)
    ) {
      errors.invalid(
        'spec.progressDeadlineSeconds',
        spec.progressDeadlineSeconds,
        'must be greater than minReadySeconds',
      )
    }
    validateNonNegative(
      Number(object.metadata?.annotations?.[ROLLBACK] ?? 0),
      errors,
      'spec.rollback.version',
    )
  },
  generationOf: (object) => [object.spec, object.metadata?.annotations],
  validateUpdate: validateSelectorUnchanged,
  status: {
    prepareForUpdate(object, stored) {
      const metadata = (object.metadata ??= {})
      if (stored.metadata?.labels === undefined) delete metadata.labels
      else metadata.labels = stored.metadata.labels
      setRollback(metadata, stored.metadata?.annotations?.[ROLLBACK])
    },
    validateUpdate: validateStatus,
  },
  warnings: templateWarnings,
  columns: tableColumns('apps/deployments', {
    Ready: (object) => `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    'Up-to-date': (object) => object.status?.updatedReplicas ?? 0,
    Available: (object) => object.status?.availableReplicas ?? 0,
    ...containerCells,
    Selector: ({ spec }) => (spec?.selector ? selectorText(spec.selector) : ''),
  }),
}
