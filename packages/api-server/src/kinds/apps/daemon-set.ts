import type { DaemonSet, DaemonSetUpdateStrategy } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
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
import {
  isConvertibleSelector,
  isEmptySelector,
  selectorMatches,
  validateLabelSelector,
} from '@gyropilot/schema/validation/labels'
import { givenValue } from '@gyropilot/schema/decode'
import { spelledAs } from '@gyropilot/schema'
import { containerCells, labelsText, selectorText, tableColumns } from '../columns.ts'
import { defaultTemplate } from '../core/pod/defaults.ts'
import { validateTemplate } from '../core/pod/spec.ts'
import {
  validateCollisionCount,
  validateReplicaCounters,
  validateSelectorUnchanged,
} from '../workload-template.ts'
import { podTemplateWarnings } from '../core/pod/warnings.ts'

const GENERATION = 'deprecated.daemonset.template.generation'

function templateGeneration(
  object: StoredOf<DaemonSet> | DraftOf<DaemonSet> | undefined,
): string | undefined {
  return object?.metadata?.annotations?.[GENERATION]
}

function setTemplateGeneration(object: DraftOf<DaemonSet>, generation: number): void {
  object.metadata ??= {}
  object.metadata.annotations = { ...object.metadata.annotations, [GENERATION]: String(generation) }
}

function validateStrategy(strategy: StoredOf<DaemonSetUpdateStrategy>, errors: FieldErrors): void {
  const rolling = strategy.rollingUpdate
  const at = 'spec.updateStrategy.rollingUpdate'
  if (strategy.type === 'OnDelete') return
  if (strategy.type !== 'RollingUpdate') {
    errors.notSupported(
      'spec.updateStrategy',
      {
        Type: strategy.type ?? '',
        RollingUpdate: rolling
          ? { MaxUnavailable: rolling.maxUnavailable ?? 0, MaxSurge: rolling.maxSurge ?? 0 }
          : null,
      },
      ['RollingUpdate', 'OnDelete'],
    )
    return
  }
  if (!rolling) {
    errors.required(at)
    return
  }
  validateIntOrPercent(rolling.maxUnavailable, errors, `${at}.maxUnavailable`)
  validateIntOrPercent(rolling.maxSurge, errors, `${at}.maxSurge`)
  validateAtMost100Percent(rolling.maxUnavailable, errors, `${at}.maxUnavailable`)
  validateAtMost100Percent(rolling.maxSurge, errors, `${at}.maxSurge`)
  const unavailable = !isZeroIntOrPercent(rolling.maxUnavailable)
  const surge = !isZeroIntOrPercent(rolling.maxSurge)
  if (unavailable && surge)
    errors.invalid(
      `${at}.maxSurge`,
      rolling.maxSurge,
      'may not be set when maxUnavailable is non-zero',
    )
  if (!unavailable && !surge)
    errors.required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')
}

export const daemonSet: KindRules<DaemonSet> = {
  group: 'apps',
  kind: 'DaemonSet',
  computedAnnotations: [GENERATION],
  defaults(object) {
    const spec = (object.spec ??= {})
    spec.updateStrategy ??= {}
    spec.updateStrategy.type ||= 'RollingUpdate'
    if (spec.updateStrategy.type === 'RollingUpdate') {
      const rolling = (spec.updateStrategy.rollingUpdate ??= {})
      rolling.maxUnavailable ??= 1
      rolling.maxSurge ??= 0
    } else if (spec.updateStrategy.rollingUpdate) {
      // Unused, and yet both are always written.
      spec.updateStrategy.rollingUpdate.maxUnavailable ??= 0
      spec.updateStrategy.rollingUpdate.maxSurge ??= 0
    }
    spec.revisionHistoryLimit ??= 10
    defaultTemplate(spec.template)
    object.metadata ??= {}
    const generation = templateGeneration(object)
    if (generation === undefined) setTemplateGeneration(object, 0)
    else {
      const problem = integerProblem(generation)
      if (problem !== undefined) throw new ConversionError(problem)
    }
  },
  prepareForCreate(object) {
    // Who brings a number keeps it: a DaemonSet that is restored goes on where it was.
    const given = Number(templateGeneration(object))
    setTemplateGeneration(object, given >= 1 ? given : 1)
    object.status = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    }
  },
  prepareForUpdate(object, stored) {
    object.status = stored.status
    const before = Number(templateGeneration(stored) ?? 0)
    const { spec } = spelledAs(stored, object, 'apps/v1', 'DaemonSet')
    setTemplateGeneration(
      object,
      deepEqual(object.spec?.template, spec?.template) ? before : before + 1,
    )
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    const selector = spec.selector
    const template = spec.template ?? {}
    validateLabelSelector(selector, errors, 'spec.selector')
    const convertible = selector !== undefined && isConvertibleSelector(selector)
    if (
      convertible &&
      !isEmptySelector(selector) &&
      !selectorMatches(selector, template.metadata?.labels)
    ) {
      errors.invalid(
        'spec.template.metadata.labels',
        givenValue(template.metadata, 'labels'),
        '`selector` does not match template `labels`',
      )
    }
    if (selector === undefined) {
      errors.invalid(
        'spec.template.metadata.labels',
        givenValue(template.metadata, 'labels'),
        '`selector` does not match template `labels`',
      )
    }
    if (selector !== undefined && isEmptySelector(selector))
      errors.invalid('spec.selector', {}, 'empty selector is invalid for daemonset')
    validateTemplate(template, errors, 'spec.template')
    const policy = template.spec?.restartPolicy
    if (policy !== 'Always')
      errors.notSupported('spec.template.spec.restartPolicy', policy ?? '', ['Always'])
    if (template.spec?.activeDeadlineSeconds !== undefined) {
      errors.forbidden(
        'spec.template.spec.activeDeadlineSeconds',
        'activeDeadlineSeconds in DaemonSet is not Supported',
      )
    }
    validateNonNegative(spec.minReadySeconds, errors, 'spec.minReadySeconds')
    validateStrategy(spec.updateStrategy ?? {}, errors)
    validateNonNegative(spec.revisionHistoryLimit, errors, 'spec.revisionHistoryLimit')
  },
  updateOrder: 'update-first',
  validateUpdate: validateSelectorUnchanged,
  status: {
    // The number is part of the specification, which a status leaves alone.
    prepareForUpdate(object, stored) {
      setTemplateGeneration(object, Number(templateGeneration(stored) ?? 0))
    },
    validateUpdate: (object, stored, errors) => {
      validateReplicaCounters(
        object.status ?? {},
        [
          'currentNumberScheduled',
          'numberMisscheduled',
          'desiredNumberScheduled',
          'numberReady',
          'observedGeneration',
          'updatedNumberScheduled',
          'numberAvailable',
          'numberUnavailable',
          'collisionCount',
        ],
        errors,
      )
      validateCollisionCount(object.status ?? {}, stored, errors)
    },
  },
  warnings: (object, stored) =>
    templateGeneration(object) === templateGeneration(stored)
      ? []
      : podTemplateWarnings(object.spec?.template),
  columns: tableColumns('apps/daemonsets', {
    Desired: (object) => object.status?.desiredNumberScheduled ?? 0,
    Current: (object) => object.status?.currentNumberScheduled ?? 0,
    Ready: (object) => object.status?.numberReady ?? 0,
    'Up-to-date': (object) => object.status?.updatedNumberScheduled ?? 0,
    Available: (object) => object.status?.numberAvailable ?? 0,
    'Node Selector': (object) => labelsText(object.spec?.template?.spec?.nodeSelector),
    ...containerCells,
    Selector: (object) => selectorText(object.spec?.selector),
  }),
}
