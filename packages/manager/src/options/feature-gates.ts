/** --feature-gates: what may be set, and what follows. Contract: docs/behaviour/runtime/manager.md, Flags. Pure. */
import type { MetricsRegistry } from '@gyropilot/foundation'
import { featureGates } from './feature-gate-table.ts'
import type { FeatureGate } from './feature-gate-table.ts'
import { featureGatesAt } from './feature-gate-history.ts'
import { CURRENT_VERSIONS } from './go-version.ts'
import type { CompatibilityVersions } from './go-version.ts'

export { featureGates } from './feature-gate-table.ts'
export type { FeatureGate } from './feature-gate-table.ts'

/** Those that the emulated version has, as it has them. */
function gatesOf({ emulation }: CompatibilityVersions): ReadonlyMap<string, FeatureGate> {
  return featureGatesAt(Number(emulation.slice('1.'.length)))
}

/** The first gate that does not exist. */
export function unknownGate(settings: ReadonlyMap<string, boolean>): string | undefined {
  return [...settings.keys()].find((name) => !featureGates.has(name))
}

/** What is wrong with the given settings: an unknown gate, one that the emulated version has not yet, or locked ones set otherwise. */
export function gateProblems(
  settings: ReadonlyMap<string, boolean>,
  versions: CompatibilityVersions = CURRENT_VERSIONS,
): readonly string[] {
  const problems: string[] = []
  const emulated = gatesOf(versions)
  for (const [name, value] of settings) {
    if (!featureGates.has(name)) return [...problems, `unrecognized feature gate: ${name}`]
    const gate = emulated.get(name)
    if (gate === undefined) {
      problems.push(
        `cannot set feature gate ${name} to ${value}, feature is PreAlpha at emulated version ${versions.emulation}, min compatibility version ${versions.minCompatibility}`,
      )
    } else if (gate.locked && value !== gate.default) {
      problems.push(
        `cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`,
      )
    }
  }
  return problems
}

/** A gate that is on needs these on. As kube-controller-manager 1.36.2 tells when it is started with gates changed, emulating each version. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  AuthorizeNodeWithSelectors: ['AuthorizeWithSelectors'],
  ClusterTrustBundleProjection: ['ClusterTrustBundle'],
  DRAAdminAccess: ['DynamicResourceAllocation'],
  DRAConsumableCapacity: ['DynamicResourceAllocation'],
  DRADeviceBindingConditions: ['DRAResourceClaimDeviceStatus', 'DynamicResourceAllocation'],
  DRADeviceTaintRules: ['DRADeviceTaints'],
  DRADeviceTaints: ['DynamicResourceAllocation'],
  DRAExtendedResource: ['DynamicResourceAllocation'],
  DRAPartitionableDevices: ['DynamicResourceAllocation'],
  DRAPrioritizedList: ['DynamicResourceAllocation'],
  DRASchedulerFilterTimeout: ['DynamicResourceAllocation'],
  DRAResourceClaimGranularStatusAuthorization: ['DRAResourceClaimDeviceStatus'],
  DRAWorkloadResourceClaims: ['GenericWorkload'],
  ExtendWebSocketsToKubelet: ['NodeDeclaredFeatures'],
  GangScheduling: ['GenericWorkload'],
  GracefulNodeShutdownBasedOnPodPriority: ['GracefulNodeShutdown'],
  InPlacePodLevelResourcesVerticalScaling: ['NodeDeclaredFeatures', 'PodLevelResources'],
  InPlacePodVerticalScalingInitContainers: ['NodeDeclaredFeatures'],
  MatchLabelKeysInPodTopologySpreadSelectorMerge: ['MatchLabelKeysInPodTopologySpread'],
  PodLifecycleSleepActionAllowZero: ['PodLifecycleSleepAction'],
  ProcMountType: ['UserNamespacesSupport'],
  ResourceHealthStatus: ['DynamicResourceAllocation'],
  ResourceHealthStatusMessage: ['ResourceHealthStatus'],
  RestartAllContainersOnContainerExits: ['ContainerRestartRules', 'NodeDeclaredFeatures'],
  StaleControllerConsistencyDaemonSet: ['AtomicFIFO'],
  StaleControllerConsistencyJob: ['AtomicFIFO'],
  StaleControllerConsistencyReplicaSet: ['AtomicFIFO'],
  StaleControllerConsistencyStatefulSet: ['AtomicFIFO'],
  TopologyAwareWorkloadScheduling: ['GenericWorkload'],
  UnknownVersionInteroperabilityProxy: ['APIServerIdentity'],
  UserNamespacesHostNetworkSupport: ['NodeDeclaredFeatures'],
  WindowsGracefulNodeShutdown: ['GracefulNodeShutdown'],
  WorkloadAwarePreemption: ['GangScheduling'],
  WorkloadWithJob: ['GenericWorkload'],
}

/** Gates that would be on without what they build on. Of settings that have no other problem. */
export function dependencyProblems(
  settings: ReadonlyMap<string, boolean>,
  versions: CompatibilityVersions = CURRENT_VERSIONS,
): readonly string[] {
  const values = gateValues(settings, versions)
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
export function gateWarnings(
  settings: ReadonlyMap<string, boolean>,
  versions: CompatibilityVersions = CURRENT_VERSIONS,
): readonly GateWarning[] {
  const emulated = gatesOf(versions)
  return [...settings].flatMap(([featureGate, value]) => {
    const stage = emulated.get(featureGate)?.stage
    if (stage !== 'GA' && stage !== 'DEPRECATED') return []
    const word = stage === 'GA' ? 'GA' : 'deprecated'
    const message = `Warning: setting ${word} feature gate. It will be removed in a future release.`
    return [{ message, featureGate, value }]
  })
}

/** Every gate's value: its default, or as set; AllAlpha and AllBeta move the defaults of their stage. Off: what is yet to come. */
export function gateValues(
  settings: ReadonlyMap<string, boolean>,
  versions: CompatibilityVersions = CURRENT_VERSIONS,
): Readonly<Record<string, boolean>> {
  const ofStage: Partial<Record<string, boolean>> = {
    ALPHA: settings.get('AllAlpha'),
    BETA: settings.get('AllBeta'),
  }
  const emulated = gatesOf(versions)
  return Object.fromEntries(
    [...featureGates.keys()].map((name) => {
      const gate = emulated.get(name)
      if (gate === undefined) return [name, false]
      return [name, settings.get(name) ?? ofStage[gate.stage] ?? gate.default]
    }),
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
  versions: CompatibilityVersions = CURRENT_VERSIONS,
): void {
  const enabled = metrics.gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature is on: 1, or 0. Without a stage: generally available.',
    labels: ['name', 'stage'],
    stability: 'BETA',
  })
  const values = gateValues(settings, versions)
  for (const [name, { stage }] of gatesOf(versions)) {
    enabled.set(values[name] ? 1 : 0, { name, stage: stage === 'GA' ? '' : stage })
  }
}
