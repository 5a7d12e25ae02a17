/**
 * The autoscaling/v1 view of a HorizontalPodAutoscaler. What v1 has no field for travels in annotations.
 */
import type { Draft, Stored } from '@gyropilot/schema/objects'
import {
  behaviorIn,
  behaviorText,
  conditionsIn,
  conditionsText,
  currentMetricsIn,
  currentMetricsText,
  metricsIn,
  metricsText,
} from './autoscaler-annotations.ts'

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics'
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior'
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions'
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics'
const CARRIERS = [METRICS, BEHAVIOR, CONDITIONS, CURRENT_METRICS]

export function autoscalerToStored(draft: Draft): Draft {
  const { targetCPUUtilizationPercentage, ...spec } = (draft['spec'] ?? {}) as Draft
  const { currentCPUUtilizationPercentage, currentReplicas, ...status } = (draft['status'] ??
    {}) as Draft
  const annotations = { ...draft['metadata']?.annotations } as Record<string, string>
  const metrics: unknown[] = metricsIn(annotations[METRICS]) ?? []
  if (targetCPUUtilizationPercentage !== undefined)
    metrics.push(cpuTarget(targetCPUUtilizationPercentage))
  // The annotation knows more than the percentage, which it has too.
  const currentMetrics: unknown[] =
    currentMetricsIn(annotations[CURRENT_METRICS]) ??
    (currentCPUUtilizationPercentage === undefined
      ? []
      : [cpuCurrent(currentCPUUtilizationPercentage)])
  const conditions = conditionsIn(annotations[CONDITIONS]) ?? []
  const behavior = behaviorIn(annotations[BEHAVIOR])
  for (const carrier of CARRIERS) delete annotations[carrier]
  const metadata = { ...draft['metadata'], annotations }
  if (Object.keys(annotations).length === 0) delete metadata['annotations']
  return {
    ...draft,
    apiVersion: 'autoscaling/v2',
    metadata,
    spec: {
      ...spec,
      ...(metrics.length > 0 ? { metrics } : {}),
      ...(behavior === undefined ? {} : { behavior }),
    },
    ...(draft['status'] === undefined
      ? {}
      : {
          status: {
            // Always written in v1, and never as a zero in v2.
            ...(currentReplicas ? { currentReplicas } : {}),
            ...status,
            ...(currentMetrics.length > 0 ? { currentMetrics } : {}),
            ...(conditions.length > 0 ? { conditions } : {}),
          },
        }),
  }
}

export function autoscalerFromStored(stored: Stored): Stored {
  const { metrics: givenMetrics, behavior, ...spec } = (stored['spec'] ?? {}) as Draft
  const { currentMetrics: seen, conditions: given, ...status } = (stored['status'] ?? {}) as Draft
  // A list without entries is stored as null where the API shows it so.
  const metrics: Draft[] = givenMetrics ?? []
  const currentMetrics: Draft[] = seen ?? []
  const conditions: Draft[] = given ?? []
  const annotations = { ...stored['metadata']?.annotations } as Record<string, string>
  const cpu = metrics.find(isCpuUtilization)
  const others = metrics.filter((metric) => !isCpuUtilization(metric))
  const currentCpu = currentMetrics.find(
    (metric) =>
      metric['resource']?.name === 'cpu' &&
      metric['resource'].current?.averageUtilization !== undefined,
  )
  if (others.length > 0) annotations[METRICS] = metricsText(others)
  if (behavior !== undefined) annotations[BEHAVIOR] = behaviorText(behavior)
  if (conditions.length > 0) annotations[CONDITIONS] = conditionsText(conditions)
  if (currentMetrics.length > 0) annotations[CURRENT_METRICS] = currentMetricsText(currentMetrics)
  return Object.freeze({
    ...stored,
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...stored['metadata'],
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    spec: {
      ...spec,
      ...(cpu === undefined
        ? {}
        : { targetCPUUtilizationPercentage: cpu['resource'].target.averageUtilization }),
    },
    status: {
      currentReplicas: 0,
      desiredReplicas: 0,
      ...status,
      ...(currentCpu === undefined
        ? {}
        : { currentCPUUtilizationPercentage: currentCpu['resource'].current.averageUtilization }),
    },
  })
}

function isCpuUtilization(metric: Draft): boolean {
  const resource = metric['type'] === 'Resource' ? metric['resource'] : undefined
  return resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined
}

function cpuTarget(averageUtilization: number): Draft {
  return {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  }
}

function cpuCurrent(averageUtilization: number): Draft {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }
}
