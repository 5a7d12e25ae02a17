/** The smallest valid objects, for tests. */
import type { HorizontalPodAutoscaler, MetricSpec, Pod, Scale } from '@gyropilot/api'

export const CPU: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
}

export interface AutoscalerOptions {
  readonly name?: string
  readonly spec?: Partial<HorizontalPodAutoscaler['spec']>
  readonly status?: HorizontalPodAutoscaler['status']
}

/** Of Deployment `web`, from 1 to 10, half of the CPU that is requested. */
export function autoscaler(given: AutoscalerOptions = {}): HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace: 'ns', name: given.name ?? 'h', resourceVersion: '7' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [CPU],
      ...given.spec,
    },
    ...(given.status && { status: given.status }),
  }
}

export function scale(replicas: number, selector = 'app=web', statusReplicas = replicas): Scale {
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { namespace: 'ns', name: 'web', resourceVersion: '3' },
    spec: { replicas },
    status: { replicas: statusReplicas, ...(selector && { selector }) },
  }
}

/** Runs and is ready since the day before; requests a whole CPU. */
export function pod(name: string): Pod {
  const since = '2025-12-31T00:00:00Z'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name, labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
    status: {
      phase: 'Running',
      startTime: since,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }],
    },
  }
}
