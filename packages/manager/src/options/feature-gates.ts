/** --feature-gates: what may be set, and what follows. Contract: docs/behaviour/runtime/manager.md, Flags. Pure. */
import type { MetricsRegistry } from '@gyropilot/foundation'
import { featureGates } from './feature-gate-table.ts'

export { featureGates } from './feature-gate-table.ts'
export type { FeatureGate } from './feature-gate-table.ts'

/** The first gate that does not exist. */
export function unknownGate(settings: ReadonlyMap<string, boolean>): string | undefined {
  return [...settings.keys()].find((name) => !featureGates.has(name))
}

/** What is wrong with the given settings: an unknown gate, or locked ones set otherwise. */
export function gateProblems(settings: ReadonlyMap<string, boolean>): readonly string[] {
  const problems: string[] = []
  for (const [name, value] of settings) {
    const gate = featureGates.get(name)
    if (gate === undefined) return [...problems, `unrecognized feature gate: ${name}`]
    if (gate.locked && value !== gate.default) {
      problems.push(
        `cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`,
      )
    }
  }
  return problems
}

/** A gate that is on needs these on. As kube-controller-manager 1.36.2 tells when it is started with one gate changed. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  ClusterTrustBundleProjection: ['ClusterTrustBundle'],
  DRADeviceBindingConditions: ['DRAResourceClaimDeviceStatus'],
  DRAResourceClaimGranularStatusAuthorization: ['DRAResourceClaimDeviceStatus'],
  DRAWorkloadResourceClaims: ['GenericWorkload'],
  ExtendWebSocketsToKubelet: ['NodeDeclaredFeatures'],
  GangScheduling: ['GenericWorkload'],
  GracefulNodeShutdownBasedOnPodPriority: ['GracefulNodeShutdown'],
  InPlacePodLevelResourcesVerticalScaling: ['NodeDeclaredFeatures', 'PodLevelResources'],
  InPlacePodVerticalScalingInitContainers: ['NodeDeclaredFeatures'],
  MatchLabelKeysInPodTopologySpreadSelectorMerge: ['MatchLabelKeysInPodTopologySpread'],
  ResourceHealthStatusMessage: ['ResourceHealthStatus'],
  RestartAllContainersOnContainerExits: ['ContainerRestartRules', 'NodeDeclaredFeatures'],
  StaleControllerConsistencyDaemonSet: ['AtomicFIFO'],
  StaleControllerConsistencyJob: ['AtomicFIFO'],
  StaleControllerConsistencyReplicaSet: ['AtomicFIFO'],
  StaleControllerConsistencyStatefulSet: ['AtomicFIFO'],
  TopologyAwareWorkloadScheduling: ['GenericWorkload'],
  UnknownVersionInteroperabilityProxy: ['APIServerIdentity'],
  WindowsGracefulNodeShutdown: ['GracefulNodeShutdown'],
  WorkloadAwarePreemption: ['GangScheduling'],
  WorkloadWithJob: ['GenericWorkload'],
}

/** Gates that would be on without what they build on. Of settings that have no other problem. */
export function dependencyProblems(settings: ReadonlyMap<string, boolean>): readonly string[] {
  const values = gateValues(settings)
  return Object.entries(NEEDS).flatMap(([gate, needed]) => {
    const missing = values[gate] ? needed.filter((name) => !values[name]) : []
    return missing.length === 0
      ? []
      : [`${gate} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`]
  })
}

interface GateWarning {
  readonly message: string
  readonly featureGate: string
  readonly value: boolean
}

/** One for each gate that is set and will not exist for long. */
export function gateWarnings(settings: ReadonlyMap<string, boolean>): readonly GateWarning[] {
  return [...settings].flatMap(([featureGate, value]) => {
    const stage = featureGates.get(featureGate)?.stage
    if (stage !== 'GA' && stage !== 'DEPRECATED') return []
    const word = stage === 'GA' ? 'GA' : 'deprecated'
    const message = `Warning: setting ${word} feature gate. It will be removed in a future release.`
    return [{ message, featureGate, value }]
  })
}

/** Every gate's value: its default, or as set; AllAlpha and AllBeta move the defaults of their stage. */
export function gateValues(
  settings: ReadonlyMap<string, boolean>,
): Readonly<Record<string, boolean>> {
  const ofStage: Partial<Record<string, boolean>> = {
    ALPHA: settings.get('AllAlpha'),
    BETA: settings.get('AllBeta'),
  }
  return Object.fromEntries(
    [...featureGates].map(([name, { default: preset, stage }]) => [
      name,
      settings.get(name) ?? ofStage[stage] ?? preset,
    ]),
  )
}

/** As --help lists them: the alpha and beta ones. */
export const listedGates: readonly string[] = [...featureGates]
  .filter(([, { stage }]) => stage === 'ALPHA' || stage === 'BETA')
  .map(([name, gate]) => `kube:${name}=true|false (${gate.stage} - default=${gate.default})`)

/** Tells of every gate whether it is on; of general ones without a stage, as every Kubernetes binary does. */
export function exposeFeatureGates(
  metrics: MetricsRegistry,
  settings: ReadonlyMap<string, boolean>,
): void {
  const enabled = metrics.gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature is on: 1, or 0. Without a stage: generally available.',
    labels: ['name', 'stage'],
    stability: 'BETA',
  })
  for (const [name, isOn] of Object.entries(gateValues(settings))) {
    const { stage } = featureGates.get(name)!
    enabled.set(isOn ? 1 : 0, { name, stage: stage === 'GA' ? '' : stage })
  }
}
