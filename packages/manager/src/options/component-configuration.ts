/**
 * What /configz shows: the flags as KubeControllerManagerConfiguration v1alpha1, with the field names and order that upstream
 * prints. Contract: docs/behaviour/runtime/manager.md, Serving. Pure.
 */
import { formatGoDuration } from '@gyropilot/foundation'
import { canonicalItems } from '../controller-names.ts'
import type { LeaderMigration } from '../election/leader-migration.ts'
import type { Options } from './options.ts'

/** As upstream orders them. */
const SECTIONS = `
  AttachDetachController CSRSigningController DaemonSetController DeploymentController StatefulSetController
  DeprecatedController EndpointController EndpointSliceController EndpointSliceMirroringController EphemeralVolumeController
  GarbageCollectorController HPAController JobController CronJobController LegacySATokenCleaner NamespaceController
  NodeIPAMController NodeLifecycleController PersistentVolumeBinderController PodGCController ReplicaSetController
  ReplicationController ResourceQuotaController SAController ServiceController TTLAfterFinishedController
  ValidatingAdmissionPolicyStatusController DeviceTaintEvictionController ResourceClaimController
`
  .trim()
  .split(/\s+/)

export function componentConfiguration(options: Options, migration?: LeaderMigration): unknown {
  const sections: Record<string, unknown> = {
    ...storage(options),
    ...workloads(options),
    ...services(options),
    ...nodes(options),
    ...others(options),
  }
  return {
    kind: 'KubeControllerManagerConfiguration',
    apiVersion: 'kubecontrollermanager.config.k8s.io/v1alpha1',
    Generic: versionedGeneric(options, migration),
    KubeCloudShared: kubeCloudShared(options),
    ...Object.fromEntries(SECTIONS.map((name) => [name, sections[name] ?? {}])),
  }
}

/** Of the version, which lacks the shutdown timeout and names what it shares with other components as JSON does. */
function versionedGeneric(options: Options, migration: LeaderMigration | undefined): unknown {
  const { ControllerShutdownTimeout: _, ...shown } = generic(options, migration)
  return {
    ...shown,
    ClientConnection: asJson(shown.ClientConnection),
    LeaderElection: asJson(shown.LeaderElection),
    Controllers: canonicalItems(shown.Controllers),
    Debugging: asJson(shown.Debugging),
    LeaderMigration: asJson(shown.LeaderMigration),
  }
}

/** `LeaderName` as `leaderName` and `QPS` as `qps`, also inside of lists. */
function asJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/^[A-Z]+$|^[A-Z]/, (capitals) => capitals.toLowerCase()),
      asJson(inner),
    ]),
  )
}

export function duration(options: Options, name: string): string {
  return formatGoDuration(options.number(name))
}

export function generic(options: Options, migration: LeaderMigration | undefined) {
  return {
    Port: 0,
    Address: '0.0.0.0',
    MinResyncPeriod: duration(options, 'min-resync-period'),
    ClientConnection: {
      Kubeconfig: options.text('kubeconfig'),
      AcceptContentTypes: '',
      ContentType: options.text('kube-api-content-type'),
      QPS: options.number('kube-api-qps'),
      Burst: options.number('kube-api-burst'),
    },
    ControllerStartInterval: duration(options, 'controller-start-interval'),
    ControllerShutdownTimeout: duration(options, 'controller-shutdown-timeout'),
    LeaderElection: {
      LeaderElect: options.flag('leader-elect'),
      LeaseDuration: duration(options, 'leader-elect-lease-duration'),
      RenewDeadline: duration(options, 'leader-elect-renew-deadline'),
      RetryPeriod: duration(options, 'leader-elect-retry-period'),
      ResourceLock: options.text('leader-elect-resource-lock'),
      ResourceName: options.text('leader-elect-resource-name'),
      ResourceNamespace: options.text('leader-elect-resource-namespace'),
    },
    Controllers: options.list('controllers'),
    Debugging: {
      EnableProfiling: options.flag('profiling'),
      EnableContentionProfiling: options.flag('contention-profiling'),
    },
    LeaderMigrationEnabled: options.flag('enable-leader-migration'),
    LeaderMigration: {
      LeaderName: migration?.leaderName ?? '',
      ResourceLock: migration?.resourceLock ?? '',
      ControllerLeaders:
        migration?.controllerLeaders.map(({ name, component }) => ({
          Name: name,
          Component: component,
        })) ?? null,
    },
  }
}

export function kubeCloudShared(options: Options): unknown {
  return {
    CloudProvider: {
      Name: options.text('cloud-provider'),
      CloudConfigFile: options.text('cloud-config'),
    },
    ExternalCloudVolumePlugin: options.text('external-cloud-volume-plugin'),
    UseServiceAccountCredentials: options.flag('use-service-account-credentials'),
    AllowUntaggedCloud: options.flag('allow-untagged-cloud'),
    RouteReconciliationPeriod: duration(options, 'route-reconciliation-period'),
    NodeMonitorPeriod: duration(options, 'node-monitor-period'),
    ClusterName: options.text('cluster-name'),
    ClusterCIDR: options.text('cluster-cidr'),
    AllocateNodeCIDRs: options.flag('allocate-node-cidrs'),
    CIDRAllocatorType: options.text('cidr-allocator-type'),
    ConfigureCloudRoutes: options.flag('configure-cloud-routes'),
    NodeSyncPeriod: duration(options, 'node-sync-period'),
  }
}

function storage(options: Options): Record<string, unknown> {
  return {
    AttachDetachController: {
      DisableAttachDetachReconcilerSync: options.flag('disable-attach-detach-reconcile-sync'),
      ReconcilerSyncLoopPeriod: duration(options, 'attach-detach-reconcile-sync-period'),
      disableForceDetachOnTimeout: options.flag('disable-force-detach-on-timeout'),
    },
    EphemeralVolumeController: {
      ConcurrentEphemeralVolumeSyncs: options.number('concurrent-ephemeralvolume-syncs'),
    },
    PersistentVolumeBinderController: {
      PVClaimBinderSyncPeriod: duration(options, 'pvclaimbinder-sync-period'),
      VolumeConfiguration: {
        EnableHostPathProvisioning: options.flag('enable-hostpath-provisioner'),
        EnableDynamicProvisioning: options.flag('enable-dynamic-provisioning'),
        PersistentVolumeRecyclerConfiguration: {
          MaximumRetry: 3,
          MinimumTimeoutNFS: options.number('pv-recycler-minimum-timeout-nfs'),
          PodTemplateFilePathNFS: options.text('pv-recycler-pod-template-filepath-nfs'),
          IncrementTimeoutNFS: options.number('pv-recycler-increment-timeout-nfs'),
          PodTemplateFilePathHostPath: options.text('pv-recycler-pod-template-filepath-hostpath'),
          MinimumTimeoutHostPath: options.number('pv-recycler-minimum-timeout-hostpath'),
          IncrementTimeoutHostPath: options.number('pv-recycler-timeout-increment-hostpath'),
        },
        FlexVolumePluginDir: options.text('flex-volume-plugin-dir'),
      },
    },
  }
}

function workloads(options: Options): Record<string, unknown> {
  return {
    CronJobController: { ConcurrentCronJobSyncs: options.number('concurrent-cron-job-syncs') },
    DaemonSetController: { ConcurrentDaemonSetSyncs: options.number('concurrent-daemonset-syncs') },
    DeploymentController: {
      ConcurrentDeploymentSyncs: options.number('concurrent-deployment-syncs'),
    },
    HPAController: {
      ConcurrentHorizontalPodAutoscalerSyncs: options.number(
        'concurrent-horizontal-pod-autoscaler-syncs',
      ),
      HorizontalPodAutoscalerSyncPeriod: duration(options, 'horizontal-pod-autoscaler-sync-period'),
      HorizontalPodAutoscalerDownscaleStabilizationWindow: duration(
        options,
        'horizontal-pod-autoscaler-downscale-stabilization',
      ),
      HorizontalPodAutoscalerTolerance: options.number('horizontal-pod-autoscaler-tolerance'),
      HorizontalPodAutoscalerCPUInitializationPeriod: duration(
        options,
        'horizontal-pod-autoscaler-cpu-initialization-period',
      ),
      HorizontalPodAutoscalerInitialReadinessDelay: duration(
        options,
        'horizontal-pod-autoscaler-initial-readiness-delay',
      ),
    },
    JobController: { ConcurrentJobSyncs: options.number('concurrent-job-syncs') },
    ReplicaSetController: { ConcurrentRSSyncs: options.number('concurrent-replicaset-syncs') },
    ReplicationController: { ConcurrentRCSyncs: options.number('concurrent-rc-syncs') },
    StatefulSetController: {
      ConcurrentStatefulSetSyncs: options.number('concurrent-statefulset-syncs'),
    },
    TTLAfterFinishedController: {
      ConcurrentTTLSyncs: options.number('concurrent-ttl-after-finished-syncs'),
    },
  }
}

function services(options: Options): Record<string, unknown> {
  return {
    EndpointController: {
      ConcurrentEndpointSyncs: options.number('concurrent-endpoint-syncs'),
      EndpointUpdatesBatchPeriod: duration(options, 'endpoint-updates-batch-period'),
    },
    EndpointSliceController: {
      ConcurrentServiceEndpointSyncs: options.number('concurrent-service-endpoint-syncs'),
      MaxEndpointsPerSlice: options.number('max-endpoints-per-slice'),
      EndpointUpdatesBatchPeriod: duration(options, 'endpointslice-updates-batch-period'),
    },
    EndpointSliceMirroringController: {
      MirroringConcurrentServiceEndpointSyncs: options.number(
        'mirroring-concurrent-service-endpoint-syncs',
      ),
      MirroringMaxEndpointsPerSubset: options.number('mirroring-max-endpoints-per-subset'),
      MirroringEndpointUpdatesBatchPeriod: duration(
        options,
        'mirroring-endpointslice-updates-batch-period',
      ),
    },
    ServiceController: { ConcurrentServiceSyncs: options.number('concurrent-service-syncs') },
  }
}

function nodes(options: Options): Record<string, unknown> {
  const [serviceCidr = '', secondaryServiceCidr = ''] = options
    .text('service-cluster-ip-range')
    .split(',')
  return {
    NodeIPAMController: {
      ServiceCIDR: serviceCidr,
      SecondaryServiceCIDR: secondaryServiceCidr,
      NodeCIDRMaskSize: options.number('node-cidr-mask-size'),
      NodeCIDRMaskSizeIPv4: options.number('node-cidr-mask-size-ipv4'),
      NodeCIDRMaskSizeIPv6: options.number('node-cidr-mask-size-ipv6'),
    },
    NodeLifecycleController: {
      NodeEvictionRate: options.number('node-eviction-rate'),
      SecondaryNodeEvictionRate: options.number('secondary-node-eviction-rate'),
      NodeStartupGracePeriod: duration(options, 'node-startup-grace-period'),
      NodeMonitorGracePeriod: duration(options, 'node-monitor-grace-period'),
      PodEvictionTimeout: '0s',
      LargeClusterSizeThreshold: options.number('large-cluster-size-threshold'),
      UnhealthyZoneThreshold: options.number('unhealthy-zone-threshold'),
    },
    DeviceTaintEvictionController: {
      ConcurrentSyncs: options.number('concurrent-device-taint-eviction-syncs'),
    },
    ResourceClaimController: { ConcurrentSyncs: options.number('concurrent-resourceclaim-syncs') },
  }
}

function others(options: Options): Record<string, unknown> {
  return {
    CSRSigningController: csrSigning(options),
    GarbageCollectorController: {
      EnableGarbageCollector: options.flag('enable-garbage-collector'),
      ConcurrentGCSyncs: options.number('concurrent-gc-syncs'),
      GCIgnoredResources: [
        { Group: '', Resource: 'events' },
        { Group: 'events.k8s.io', Resource: 'events' },
      ],
    },
    LegacySATokenCleaner: {
      CleanUpPeriod: duration(options, 'legacy-service-account-token-clean-up-period'),
    },
    NamespaceController: {
      NamespaceSyncPeriod: duration(options, 'namespace-sync-period'),
      ConcurrentNamespaceSyncs: options.number('concurrent-namespace-syncs'),
    },
    PodGCController: { TerminatedPodGCThreshold: options.number('terminated-pod-gc-threshold') },
    ResourceQuotaController: {
      ResourceQuotaSyncPeriod: duration(options, 'resource-quota-sync-period'),
      ConcurrentResourceQuotaSyncs: options.number('concurrent-resource-quota-syncs'),
    },
    SAController: {
      ServiceAccountKeyFile: options.text('service-account-private-key-file'),
      ConcurrentSATokenSyncs: options.number('concurrent-serviceaccount-token-syncs'),
      RootCAFile: options.text('root-ca-file'),
    },
    ValidatingAdmissionPolicyStatusController: {
      ConcurrentPolicySyncs: options.number('concurrent-validating-admission-policy-status-syncs'),
    },
  }
}

function csrSigning(options: Options): unknown {
  const files = (signer: string): unknown => ({
    CertFile: options.text(`cluster-signing-${signer}-cert-file`),
    KeyFile: options.text(`cluster-signing-${signer}-key-file`),
  })
  return {
    ClusterSigningCertFile: options.text('cluster-signing-cert-file'),
    ClusterSigningKeyFile: options.text('cluster-signing-key-file'),
    KubeletServingSignerConfiguration: files('kubelet-serving'),
    KubeletClientSignerConfiguration: files('kubelet-client'),
    KubeAPIServerClientSignerConfiguration: files('kube-apiserver-client'),
    LegacyUnknownSignerConfiguration: files('legacy-unknown'),
    ClusterSigningDuration: duration(options, 'cluster-signing-duration'),
  }
}
