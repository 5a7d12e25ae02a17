/** HorizontalPodAutoscalers in their stored form, autoscaling/v2. */
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '@gyropilot/api'
import type { DraftOf, KindRules, Stored, StoredOf } from '../../registry/kind-rules.ts'
import { emptyStatus, givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { quantitySign } from '@gyropilot/api'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsLabel, pathSegment } from '@gyropilot/schema/validation/names'
import { validateContainerResourceName } from '../core/pod/resources.ts'
import { autoscalerColumns } from './columns.ts'
import { nullWhenEmpty } from '../workload-template.ts'

const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
const FIELD_OF: Readonly<Record<string, (typeof SOURCES)[number]>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
}

function defaultBehavior(behavior: DraftOf<HorizontalPodAutoscalerBehavior>): void {
  if (behavior.scaleUp)
    fill(
      behavior.scaleUp,
      [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
      0,
    )
  if (behavior.scaleDown)
    fill(behavior.scaleDown, [{ type: 'Percent', value: 100, periodSeconds: 15 }], undefined)
}

function fill(
  rules: DraftOf<HPAScalingRules>,
  policies: readonly DraftOf<HPAScalingPolicy>[],
  windowSeconds: number | undefined,
): void {
  rules.selectPolicy ??= 'Max'
  if (rules.stabilizationWindowSeconds === undefined && windowSeconds !== undefined)
    rules.stabilizationWindowSeconds = windowSeconds
  // A list that was given and is empty is refused.
  if (givenValue(rules, 'policies') === null)
    rules.policies = policies.map((policy) => ({ ...policy }))
}

/** Given parts override field by field: both directions are filled in when either is given. */
function defaults(object: DraftOf<HorizontalPodAutoscaler>): void {
  const spec = (object.spec ??= {})
  spec.minReplicas ??= 1
  if ((spec.metrics ?? []).length === 0) {
    spec.metrics = [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ]
  }
  if (spec.behavior) {
    spec.behavior.scaleUp ??= {}
    spec.behavior.scaleDown ??= {}
    defaultBehavior(spec.behavior)
  }
}

interface Leniency {
  /** The stored object names no group either. */
  readonly withoutGroup?: boolean
  /** Of minReplicas. */
  readonly least?: 0 | 1
}

function validate(
  object: StoredOf<HorizontalPodAutoscaler>,
  errors: FieldErrors,
  { withoutGroup = false, least = 1 }: Leniency = {},
): void {
  const spec = object.spec ?? {}
  const { minReplicas, maxReplicas = 0 } = spec
  if (typeof minReplicas === 'number' && minReplicas < least)
    errors.invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${least}`)
  if (maxReplicas < 1) {
    if (maxReplicas === 0) errors.required('spec.maxReplicas', 'must be set and greater than 0')
    else errors.invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1')
  }
  if (typeof minReplicas === 'number' && maxReplicas < minReplicas) {
    errors.invalid(
      'spec.maxReplicas',
      maxReplicas,
      'must be greater than or equal to `minReplicas`',
    )
  }
  validateReference(spec.scaleTargetRef ?? {}, !withoutGroup, errors, 'spec.scaleTargetRef')
  validateMetrics(spec.metrics, minReplicas, errors)
  if (spec.behavior) {
    validateRules(spec.behavior.scaleUp, errors, 'spec.behavior.scaleUp')
    validateRules(spec.behavior.scaleDown, errors, 'spec.behavior.scaleDown')
  }
}

/** `scaled`: what is scaled must be in a group, as all but ReplicationControllers are. */
function validateReference(
  reference: StoredOf<CrossVersionObjectReference>,
  scaled: boolean,
  errors: FieldErrors,
  field: string,
): void {
  const { apiVersion = '', kind = '', name = '' } = reference
  if (kind === '') errors.required(`${field}.kind`)
  else invalidAll(errors, `${field}.kind`, kind, pathSegment(kind))
  if (name === '') errors.required(`${field}.name`)
  else invalidAll(errors, `${field}.name`, name, pathSegment(name))
  const slashes = apiVersion.split('/').length - 1
  if (slashes > 1)
    errors.invalid(
      `${field}.apiVersion`,
      apiVersion,
      `unexpected GroupVersion string: ${apiVersion}`,
    )
  else if (scaled && !hasGroup(apiVersion) && kind !== 'ReplicationController')
    errors.invalid(`${field}.apiVersion`, apiVersion, 'apiVersion must specify API group')
}

/** `v1` has none. */
function hasGroup(apiVersion: string): boolean {
  return apiVersion.indexOf('/') > 0
}

function validateMetrics(
  metrics: readonly StoredOf<MetricSpec>[] | undefined,
  minReplicas: number | undefined,
  errors: FieldErrors,
): void {
  let scalesToZero = false
  for (const [index, metric] of (metrics ?? []).entries()) {
    if (metric.type === 'Object' || metric.type === 'External') scalesToZero = true
    validateMetric(metric, errors, `spec.metrics[${index}]`)
  }
  if (minReplicas === 0 && !scalesToZero)
    errors.forbidden(
      'spec.metrics',
      'must specify at least one Object or External metric to support scaling to zero replicas',
    )
}

const SOURCES = ['object', 'external', 'pods', 'resource', 'containerResource'] as const

function validateMetric(metric: StoredOf<MetricSpec>, errors: FieldErrors, field: string): void {
  const { type = '' } = metric
  if (!type) errors.required(`${field}.type`, 'must specify a metric source type')
  if (!METRIC_TYPES.includes(type)) errors.notSupported(`${field}.type`, type, METRIC_TYPES)
  const present = SOURCES.filter((name) => metric[name])
  const [first] = present
  if (first !== undefined) validateSource(first, metric[first] ?? {}, errors, `${field}.${first}`)
  const expected = FIELD_OF[type]
  // Said twice: once of the type, once of the source that it should name.
  if (expected === undefined) errors.notSupported(`${field}.type`, type, METRIC_TYPES)
  if (expected !== undefined && !metric[expected])
    errors.required(`${field}.${expected}`, 'must populate information for the given metric source')
  if (present.length > 1) {
    for (const name of present)
      if (name !== expected)
        errors.forbidden(`${field}.${name}`, 'must populate the given metric source only')
  }
}

function validateSource(name: string, source: Stored, errors: FieldErrors, field: string): void {
  const target = source.target ?? {}
  if (name === 'object') {
    validateReference(source.describedObject ?? {}, false, errors, `${field}.describedObject`)
    validateIdentifier(source.metric, errors, `${field}.metric`)
    validateTarget(target, errors, `${field}.target`)
    if (target.value === undefined && target.averageValue === undefined)
      errors.required(
        `${field}.target.averageValue`,
        'must set either a target value or averageValue',
      )
  } else if (name === 'external') {
    validateIdentifier(source.metric, errors, `${field}.metric`)
    validateTarget(target, errors, `${field}.target`)
    if (target.value === undefined && target.averageValue === undefined)
      errors.required(
        `${field}.target.averageValue`,
        'must set either a target value for metric or a per-pod target',
      )
    if (target.value !== undefined && target.averageValue !== undefined)
      errors.forbidden(
        `${field}.target.value`,
        'may not set both a target value for metric and a per-pod target',
      )
  } else if (name === 'pods') {
    validateIdentifier(source.metric, errors, `${field}.metric`)
    validateTarget(target, errors, `${field}.target`)
    if (target.averageValue === undefined)
      errors.required(`${field}.target.averageValue`, 'must specify a positive target averageValue')
  } else {
    if (!source.name) errors.required(`${field}.name`, 'must specify a resource name')
    else if (name === 'containerResource')
      validateContainerResourceName(source.name, errors, `${field}.name`)
    if (name === 'containerResource') {
      const container: string = source.container ?? ''
      if (container === '') errors.required(`${field}.container`, 'must specify a container')
      else invalidAll(errors, `${field}.container`, container, dnsLabel(container))
    }
    validateTarget(target, errors, `${field}.target`)
    const raw = target.averageValue !== undefined
    const utilization = target.averageUtilization !== undefined
    if (!raw && !utilization)
      errors.required(
        `${field}.target.averageUtilization`,
        'must set either a target raw value or a target utilization',
      )
    if (raw && utilization)
      errors.forbidden(
        `${field}.target.averageValue`,
        'may not set both a target raw value and a target utilization',
      )
  }
}

function validateIdentifier(
  metric: StoredOf<MetricIdentifier> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!metric?.name) errors.required(`${field}.name`, 'must specify a metric name')
  else invalidAll(errors, `${field}.name`, metric.name, pathSegment(metric.name))
}

function validateTarget(target: StoredOf<MetricTarget>, errors: FieldErrors, field: string): void {
  const { type = '' } = target
  if (type === '') errors.required(`${field}.type`, 'must specify a metric target type')
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.invalid(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue')
  if (target.value !== undefined && quantitySign(target.value) !== 1)
    errors.invalid(`${field}.value`, target.value, 'must be positive')
  if (target.averageValue !== undefined && quantitySign(target.averageValue) !== 1)
    errors.invalid(`${field}.averageValue`, target.averageValue, 'must be positive')
  if (typeof target.averageUtilization === 'number' && target.averageUtilization < 1)
    errors.invalid(
      `${field}.averageUtilization`,
      target.averageUtilization,
      'must be greater than 0',
    )
}

function validateRules(
  rules: StoredOf<HPAScalingRules> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!rules) return
  validateSteps(rules, errors, field)
  const { tolerance } = rules
  if (tolerance !== undefined && quantitySign(tolerance) < 0)
    errors.invalid(`${field}.tolerance`, tolerance, 'must be greater than or equal to 0')
}

function validateSteps(rules: StoredOf<HPAScalingRules>, errors: FieldErrors, field: string): void {
  const window: number | undefined = rules.stabilizationWindowSeconds
  if (window !== undefined && window < 0)
    errors.invalid(
      `${field}.stabilizationWindowSeconds`,
      window,
      'must be greater than or equal to zero',
    )
  if (window !== undefined && window > 3600)
    errors.invalid(
      `${field}.stabilizationWindowSeconds`,
      window,
      'must be less than or equal to 3600',
    )
  const policies = ['Disabled', 'Max', 'Min']
  if (rules.selectPolicy !== undefined && !policies.includes(rules.selectPolicy))
    errors.notSupported(`${field}.selectPolicy`, rules.selectPolicy, policies)
  if ((rules.policies ?? []).length === 0)
    errors.required(`${field}.policies`, 'must specify at least one Policy')
  for (const [index, policy] of (rules.policies ?? []).entries()) {
    const at = `${field}.policies[${index}]`
    if (policy.type !== 'Pods' && policy.type !== 'Percent')
      errors.notSupported(`${at}.type`, policy.type ?? '', ['Percent', 'Pods'])
    if (!((policy.value ?? 0) > 0))
      errors.invalid(`${at}.value`, policy.value ?? 0, 'must be greater than zero')
    if (!((policy.periodSeconds ?? 0) > 0))
      errors.invalid(`${at}.periodSeconds`, policy.periodSeconds ?? 0, 'must be greater than zero')
    if ((policy.periodSeconds ?? 0) > 1800)
      errors.invalid(
        `${at}.periodSeconds`,
        policy.periodSeconds,
        'must be less than or equal to 1800',
      )
  }
}

function validation(
  least: 0 | 1,
): Pick<KindRules<HorizontalPodAutoscaler>, 'validate' | 'validateUpdate'> {
  return {
    validate: (object, errors) => validate(object, errors, { least }),
    validateUpdate(object, stored, errors) {
      const withoutGroup = !hasGroup(stored.spec?.scaleTargetRef?.apiVersion ?? '')
      validate(object, errors, { least, withoutGroup })
    },
  }
}

export const horizontalPodAutoscaler: KindRules<HorizontalPodAutoscaler> = {
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  generationOf: null,
  defaults,
  prepareForCreate(object) {
    object.status = emptyStatus({
      group: 'autoscaling',
      version: 'v2',
      kind: 'HorizontalPodAutoscaler',
    })
  },
  canonicalize({ status }) {
    if (status) nullWhenEmpty(status, 'currentMetrics')
  },
  ...validation(1),
  updateOrder: 'update-only',
  withGates: { HPAScaleToZero: validation(0) },
  status: {
    validateUpdate(object, _stored, errors) {
      for (const field of ['currentReplicas', 'desiredReplicas'] as const) {
        const count = object.status?.[field] ?? 0
        if (count < 0)
          errors.invalid(`status.${field}`, count, 'must be greater than or equal to 0')
      }
    },
  },
  columns: autoscalerColumns,
}
