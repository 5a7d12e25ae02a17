/**
 * What a HorizontalPodAutoscaler of autoscaling/v1 says in annotations: metrics in the shape they had in v1, and the behavior in the
 * shape that kube-apiserver has it in memory, with capital letters.
 */
import { decodePart } from '@gyropilot/schema'
import type { Draft, Stored } from '@gyropilot/schema/objects'

/** Text of a client: what does not parse is as good as absent. */
function listIn(text: string | undefined): readonly Draft[] | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return Array.isArray(value) ? (value as Draft[]) : undefined
  } catch {
    return undefined
  }
}

function decoded(schema: string, items: readonly Draft[] | undefined): Stored[] | undefined {
  try {
    return items?.map((item) => decodePart(schema, item).object)
  } catch {
    return undefined
  }
}

/** Fields that are undefined are left out, as the JSON would leave them out. */
const present = (fields: Draft): Draft =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

export function metricsIn(text: string | undefined): Stored[] | undefined {
  return decoded(
    'autoscaling-v2.MetricSpec',
    listIn(text)?.map((metric) => withSources(metric, specSources)),
  )
}

export function currentMetricsIn(text: string | undefined): Stored[] | undefined {
  return decoded(
    'autoscaling-v2.MetricStatus',
    listIn(text)?.map((metric) => withSources(metric, statusSources)),
  )
}

export function conditionsIn(text: string | undefined): Stored[] | undefined {
  return decoded('autoscaling-v2.HorizontalPodAutoscalerCondition', listIn(text))
}

type Sources = Readonly<Record<string, (source: Draft) => Draft>>

function withSources(metric: Draft, sources: Sources): Draft {
  const converted: Draft = { type: metric['type'] }
  for (const [name, convert] of Object.entries(sources))
    if (metric[name]) converted[name] = convert(metric[name] as Draft)
  return converted
}

const identifier = (name: unknown, selector: unknown): Draft => present({ name, selector })

function utilization({ name, container, ...source }: Draft): Draft {
  const averageUtilization: unknown = source['targetAverageUtilization'] ?? undefined
  const averageValue: unknown = source['targetAverageValue'] ?? undefined
  const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization'
  return present({
    name,
    container,
    target: present({ type, averageUtilization, averageValue }),
  })
}

const specSources: Sources = {
  resource: utilization,
  containerResource: utilization,
  pods: ({ metricName, selector, targetAverageValue }) => ({
    metric: identifier(metricName, selector),
    target: { type: 'AverageValue', averageValue: targetAverageValue ?? '0' },
  }),
  external: ({ metricName, metricSelector, targetValue, targetAverageValue }) => ({
    metric: identifier(metricName, metricSelector),
    target:
      targetValue === undefined || targetValue === null
        ? present({ type: 'AverageValue', averageValue: targetAverageValue })
        : present({ type: 'Value', value: targetValue, averageValue: targetAverageValue }),
  }),
  object: ({ target, metricName, selector, targetValue, averageValue }) => ({
    describedObject: target ?? {},
    metric: identifier(metricName, selector),
    target:
      averageValue === undefined || averageValue === null
        ? { type: 'Value', value: targetValue ?? '0' }
        : { type: 'AverageValue', averageValue },
  }),
}

const currentUtilization = ({ name, container, ...source }: Draft): Draft =>
  present({
    name,
    container,
    current: present({
      averageUtilization: source['currentAverageUtilization'],
      averageValue: source['currentAverageValue'],
    }),
  })

const statusSources: Sources = {
  resource: currentUtilization,
  containerResource: currentUtilization,
  pods: ({ metricName, selector, currentAverageValue }) => ({
    metric: identifier(metricName, selector),
    current: { averageValue: currentAverageValue ?? '0' },
  }),
  external: ({ metricName, metricSelector, currentValue, currentAverageValue }) => ({
    metric: identifier(metricName, metricSelector),
    current: present({ value: currentValue ?? '0', averageValue: currentAverageValue }),
  }),
  object: ({ target, metricName, selector, currentValue, averageValue }) => ({
    describedObject: target ?? {},
    metric: identifier(metricName, selector),
    current: present({ value: currentValue ?? '0', averageValue }),
  }),
}

/** Members in the order in which the text has them. */
export const metricsText = (metrics: readonly Stored[]): string =>
  JSON.stringify(metrics.map((metric) => withSources(metric, specTexts)))

export const currentMetricsText = (metrics: readonly Stored[]): string =>
  JSON.stringify(metrics.map((metric) => withSources(metric, statusTexts)))

export const conditionsText = (conditions: readonly Stored[]): string =>
  JSON.stringify(
    conditions.map(({ type, status, lastTransitionTime = null, reason, message }) => ({
      type,
      status,
      lastTransitionTime,
      reason,
      message,
    })),
  )

const targetUtilization = ({ name, target, container }: Stored): Draft => ({
  name,
  targetAverageUtilization: target.averageUtilization,
  targetAverageValue: target.averageValue,
  container,
})

const specTexts: Sources = {
  object: ({ describedObject, metric, target }) => ({
    target: describedObject,
    metricName: metric.name,
    targetValue: target.value ?? '0',
    selector: metric.selector,
    averageValue: target.averageValue,
  }),
  pods: ({ metric, target }) => ({
    metricName: metric.name,
    targetAverageValue: target.averageValue ?? '0',
    selector: metric.selector,
  }),
  resource: targetUtilization,
  containerResource: targetUtilization,
  external: ({ metric, target }) => ({
    metricName: metric.name,
    metricSelector: metric.selector,
    targetValue: target.value,
    targetAverageValue: target.averageValue,
  }),
}

const seenUtilization = ({ name, current, container }: Stored): Draft => ({
  name,
  currentAverageUtilization: current.averageUtilization,
  currentAverageValue: current.averageValue ?? '0',
  container,
})

const statusTexts: Sources = {
  object: ({ describedObject, metric, current }) => ({
    target: describedObject,
    metricName: metric.name,
    currentValue: current.value ?? '0',
    selector: metric.selector,
    averageValue: current.averageValue,
  }),
  pods: ({ metric, current }) => ({
    metricName: metric.name,
    currentAverageValue: current.averageValue ?? '0',
    selector: metric.selector,
  }),
  resource: seenUtilization,
  containerResource: seenUtilization,
  external: ({ metric, current }) => ({
    metricName: metric.name,
    metricSelector: metric.selector,
    currentValue: current.value ?? '0',
    currentAverageValue: current.averageValue,
  }),
}

export function behaviorIn(text: string | undefined): Stored | undefined {
  try {
    const value = lowerCased(JSON.parse(text ?? '')) as Draft
    // Policies have defaults in v2 only: none here stays none, and is refused.
    for (const rules of [value['scaleUp'], value['scaleDown']]) if (rules) rules.policies ??= []
    if (!value['scaleUp'] && !value['scaleDown']) return undefined
    return decodePart('autoscaling-v2.HorizontalPodAutoscalerBehavior', value).object
  } catch {
    return undefined
  }
}

/** Names of fields as the API has them, whatever letters the text has them in. */
function lowerCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCased)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name[0]?.toLowerCase() + name.slice(1), lowerCased(member)]),
  )
}

const rulesText = (rules: Stored | undefined): Draft | null =>
  rules === undefined
    ? null
    : {
        StabilizationWindowSeconds: rules['stabilizationWindowSeconds'] ?? null,
        SelectPolicy: rules['selectPolicy'] ?? null,
        Policies:
          rules['policies']?.map(({ type, value, periodSeconds }: Stored) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })) ?? null,
        Tolerance: rules['tolerance'] ?? null,
      }

export const behaviorText = (behavior: Stored): string =>
  JSON.stringify({
    ScaleUp: rulesText(behavior['scaleUp']),
    ScaleDown: rulesText(behavior['scaleDown']),
  })
