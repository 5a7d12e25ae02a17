/** Autoscalers at rest. Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md. */
import { resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

/** A Deployment with an autoscaler has as many replicas as that one says, within its limits. One of zero is left alone. */
export function* autoscalers(objects: Objects): Iterable<string> {
  for (const { metadata, spec, status } of objects.all(resources.horizontalpodautoscalers)) {
    const { kind, name } = spec.scaleTargetRef
    const text = `HorizontalPodAutoscaler ${metadata?.namespace}/${metadata?.name}`
    const target =
      kind === 'Deployment'
        ? objects.find(resources.deployments, metadata?.namespace, name)
        : undefined
    if (target === undefined) continue
    const replicas = target.spec?.replicas ?? 1
    if (replicas === 0) continue
    const { minReplicas = 1, maxReplicas } = spec
    if (replicas < minReplicas || replicas > maxReplicas)
      yield `${text} allows ${minReplicas} to ${maxReplicas} replicas, ${name} has ${replicas}`
    if (status?.desiredReplicas !== replicas || status.currentReplicas !== replicas)
      yield `${text} says ${status?.currentReplicas} and wants ${status?.desiredReplicas}, ${name} has ${replicas}`
  }
}
