/** The row of an autoscaler: what it looks at, and how far it is from what it wants. */
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import { tableColumns } from '../columns.ts'

const METRICS_SHOWN = 2

/** Written by Go for a quantity that nobody set. */
const NO_QUANTITY = '<nil>'

function targetsText({ spec, status }: StoredOf<HorizontalPodAutoscaler>): string {
  const metrics = spec?.metrics ?? []
  if (metrics.length === 0) return '<none>'
  const texts = metrics
    .slice(0, METRICS_SHOWN)
    .map((metric, index) => metricText(metric, status?.currentMetrics?.[index]))
  const more = metrics.length - METRICS_SHOWN
  return more > 0 ? `${texts.join(', ')} + ${more} more...` : texts.join(', ')
}

function metricText(
  metric: StoredOf<MetricSpec>,
  status: StoredOf<MetricStatus> | undefined,
): string {
  switch (metric.type) {
    case 'Resource':
      return resourceText(metric.resource, status?.resource)
    case 'ContainerResource':
      return resourceText(metric.containerResource, status?.containerResource)
    case 'Pods':
      return `${measured(status?.pods, 'averageValue')}/${metric.pods?.target?.averageValue ?? NO_QUANTITY}`
    case 'Object':
      return valueText(metric.object, status?.object)
    case 'External':
      return valueText(metric.external, status?.external)
    default:
      return '<unknown type>'
  }
}

interface Wanted {
  readonly name?: string
  readonly target?: StoredOf<MetricTarget>
}

interface Measured {
  readonly current?: StoredOf<MetricValueStatus>
}

function resourceText(wanted: Wanted | undefined, status: Measured | undefined): string {
  const { name = '', target = {} } = wanted ?? {}
  if (target.averageValue !== undefined)
    return `${name}: ${measured(status, 'averageValue')}/${target.averageValue}`
  return `${name}: ${percent(status?.current?.averageUtilization, '<unknown>')}/${percent(target.averageUtilization, '<auto>')}`
}

function valueText(wanted: Wanted | undefined, status: Measured | undefined): string {
  const { averageValue, value } = wanted?.target ?? {}
  if (averageValue !== undefined)
    return `${status?.current?.averageValue ?? '<unknown>'}/${averageValue} (avg)`
  return `${measured(status, 'value')}/${value ?? NO_QUANTITY}`
}

/** A metric that was measured in another way has a status without this quantity. */
function measured(status: Measured | undefined, field: 'value' | 'averageValue'): string {
  return status === undefined ? '<unknown>' : String(status.current?.[field] ?? NO_QUANTITY)
}

function percent(utilization: number | undefined, absent: string): string {
  return utilization === undefined ? absent : `${utilization}%`
}

export const autoscalerColumns = tableColumns<HorizontalPodAutoscaler>(
  'autoscaling/horizontalpodautoscalers',
  {
    Reference: ({ spec }) =>
      `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
    Targets: targetsText,
    MinPods: ({ spec }) => (spec?.minReplicas === undefined ? '<unset>' : String(spec.minReplicas)),
    MaxPods: ({ spec }) => spec?.maxReplicas ?? 0,
    Replicas: ({ status }) => status?.currentReplicas ?? 0,
  },
)
