import { otherFeatureGates } from './other-feature-gates.ts'

/**
 * Feature gates of 1.36 that the loops and their libraries ask for, with their defaults. Contract:
 * docs/behaviour/runtime/manager.md, Controllers, and the gate tables of the controllers' pages.
 */
export interface FeatureGate {
  readonly default: boolean
  readonly stage: 'ALPHA' | 'BETA' | 'GA'
  /** Cannot be set to another value. */
  readonly locked?: boolean
}

const alpha: FeatureGate = { default: false, stage: 'ALPHA' }
const beta: FeatureGate = { default: true, stage: 'BETA' }
const betaOff: FeatureGate = { default: false, stage: 'BETA' }
const stable: FeatureGate = { default: true, stage: 'GA' }
const locked: FeatureGate = { default: true, stage: 'GA', locked: true }

export const featureGates: Readonly<Record<string, FeatureGate>> = {
  APIServerIdentity: beta,
  AllAlpha: alpha,
  AllBeta: betaOff,
  AtomicFIFO: beta,
  ClientsAllowCARotation: beta,
  ClientsAllowTLSCacheGC: beta,
  ClusterTrustBundle: betaOff,
  ComponentFlagz: beta,
  ComponentStatusz: beta,
  ContextualLogging: stable,
  ControllerManagerReleaseLeaderElectionLockOnExit: alpha,
  CoordinatedLeaderElection: betaOff,
  DRADeviceTaintRules: betaOff,
  DRADeviceTaints: beta,
  DRAExtendedResource: beta,
  DRAResourcePoolStatus: alpha,
  DRAWorkloadResourceClaims: alpha,
  DeploymentReplicaSetTerminatingReplicas: beta,
  DynamicResourceAllocation: locked,
  GenericWorkload: alpha,
  HPAConfigurableTolerance: beta,
  HPAScaleToZero: alpha,
  InOrderInformers: locked,
  JobBackoffLimitPerIndex: locked,
  JobManagedBy: locked,
  JobPodReplacementPolicy: locked,
  JobSuccessPolicy: locked,
  LogarithmicScaleDown: stable,
  MaxUnavailableStatefulSet: beta,
  MultiCIDRServiceAllocator: locked,
  MutablePodResourcesForSuspendedJobs: beta,
  MutableSchedulingDirectivesForSuspendedJobs: beta,
  OrderedNamespaceDeletion: locked,
  PodCertificateRequest: betaOff,
  PodDeletionCost: beta,
  PodLevelResources: beta,
  PodObservedGenerationTracking: locked,
  PreferSameTrafficDistribution: locked,
  RecoverVolumeExpansionFailure: locked,
  RelaxedServiceNameValidation: beta,
  SELinuxChangePolicy: locked,
  SELinuxMount: stable,
  SeparateTaintEvictionController: locked,
  ServiceTrafficDistribution: locked,
  StaleControllerConsistencyDaemonSet: beta,
  StaleControllerConsistencyJob: beta,
  StaleControllerConsistencyReplicaSet: beta,
  StaleControllerConsistencyStatefulSet: beta,
  StatefulSetSemanticRevisionComparison: beta,
  StorageVersionAPI: alpha,
  StorageVersionMigrator: betaOff,
  TaintTolerationComparisonOperators: alpha,
  TopologyAwareHints: locked,
  UnlockWhileProcessingFIFO: beta,
  VolumeAttributesClass: locked,
  WatchListClient: beta,
  WorkloadWithJob: alpha,
}

/** What is wrong with the given settings: unknown gates, and locked ones set otherwise. */
export function gateProblems(settings: ReadonlyMap<string, boolean>): readonly string[] {
  const problems: string[] = []
  for (const [name, value] of settings) {
    const gate = featureGates[name]
    if (gate === undefined) {
      if (!otherFeatureGates.has(name)) problems.push(`unrecognized feature gate: ${name}`)
    } else if (gate.locked && value !== gate.default) {
      problems.push(
        `cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`,
      )
    }
  }
  return problems
}

/** Every gate's value: its default, or as set; AllAlpha and AllBeta move the defaults of their stage. */
export function gateValues(
  settings: ReadonlyMap<string, boolean>,
): Readonly<Record<string, boolean>> {
  const stages = { ALPHA: settings.get('AllAlpha'), BETA: settings.get('AllBeta'), GA: undefined }
  return Object.fromEntries(
    Object.entries(featureGates).map(([name, gate]) => [
      name,
      settings.get(name) ?? (gate.locked ? gate.default : (stages[gate.stage] ?? gate.default)),
    ]),
  )
}
