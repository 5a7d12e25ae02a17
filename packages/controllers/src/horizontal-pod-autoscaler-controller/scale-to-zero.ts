/**
 * Down to nothing and back, behind the alpha gate HPAScaleToZero. Pure.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Feature gates.
 */
import { isConditionTrue } from '@gyropilot/api'
import type { HorizontalPodAutoscaler } from '@gyropilot/api'
import type { ConditionUpdate } from './conditions.ts'

/** Pods that are not there have no metrics: only what is asked of others can bring them back. */
function hasMetricBesidePods({ spec }: HorizontalPodAutoscaler): boolean {
  return (spec.metrics ?? []).some(({ type }) => type === 'Object' || type === 'External')
}

/** It was this controller that took all replicas away, and it may bring them back. */
export function isScaledToZero(autoscaler: HorizontalPodAutoscaler): boolean {
  const { spec, status } = autoscaler
  return (
    isConditionTrue(status?.conditions, 'ScaledToZero') &&
    (spec.minReplicas !== 0 || hasMetricBesidePods(autoscaler))
  )
}

export function scalesToZero(autoscaler: HorizontalPodAutoscaler, replicas: number): boolean {
  return replicas === 0 && autoscaler.spec.minReplicas === 0 && hasMetricBesidePods(autoscaler)
}

export const scaledToZero: ConditionUpdate = {
  type: 'ScaledToZero',
  status: 'True',
  reason: 'ScaledToZero',
  message: 'the HPA controller scaled the workload to zero',
}

export const notScaledToZero: ConditionUpdate = {
  type: 'ScaledToZero',
  status: 'False',
  reason: 'NotScaledToZero',
  message: 'the HPA controller did not scale the workload to zero',
}
