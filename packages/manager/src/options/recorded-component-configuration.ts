/** What kube-controller-manager 1.36.2 shows at /configz when no flag is given. */
export const recordedComponentConfiguration: unknown = {
  kind: 'KubeControllerManagerConfiguration',
  apiVersion: 'kubecontrollermanager.config.k8s.io/v1alpha1',
  Generic: {
    Port: 0,
    Address: '0.0.0.0',
    MinResyncPeriod: '12h0m0s',
    ClientConnection: {
      kubeconfig: '',
      acceptContentTypes: '',
      contentType: 'application/vnd.kubernetes.protobuf',
      qps: 20,
      burst: 30,
    },
    ControllerStartInterval: '0s',
    LeaderElection: {
      leaderElect: true,
      leaseDuration: '15s',
      renewDeadline: '10s',
      retryPeriod: '2s',
      resourceLock: 'leases',
      resourceName: 'kube-controller-manager',
      resourceNamespace: 'kube-system',
    },
    Controllers: ['*'],
    Debugging: {
      enableProfiling: true,
      enableContentionProfiling: false,
    },
    LeaderMigrationEnabled: false,
    LeaderMigration: {
      leaderName: '',
      resourceLock: '',
      controllerLeaders: null,
    },
  },
  KubeCloudShared: {
    CloudProvider: {
      Name: '',
      CloudConfigFile: '',
    },
    ExternalCloudVolumePlugin: '',
    UseServiceAccountCredentials: false,
    AllowUntaggedCloud: false,
    RouteReconciliationPeriod: '10s',
    NodeMonitorPeriod: '5s',
    ClusterName: 'kubernetes',
    ClusterCIDR: '',
    AllocateNodeCIDRs: false,
    CIDRAllocatorType: 'RangeAllocator',
    ConfigureCloudRoutes: true,
    NodeSyncPeriod: '0s',
  },
  AttachDetachController: {
    DisableAttachDetachReconcilerSync: false,
    ReconcilerSyncLoopPeriod: '1m0s',
    disableForceDetachOnTimeout: false,
  },
  CSRSigningController: {
    ClusterSigningCertFile: '',
    ClusterSigningKeyFile: '',
    KubeletServingSignerConfiguration: {
      CertFile: '',
      KeyFile: '',
    },
    KubeletClientSignerConfiguration: {
      CertFile: '',
      KeyFile: '',
    },
    KubeAPIServerClientSignerConfiguration: {
      CertFile: '',
      KeyFile: '',
    },
    LegacyUnknownSignerConfiguration: {
      CertFile: '',
      KeyFile: '',
    },
    ClusterSigningDuration: '8760h0m0s',
  },
  DaemonSetController: {
    ConcurrentDaemonSetSyncs: 2,
  },
  DeploymentController: {
    ConcurrentDeploymentSyncs: 5,
  },
  StatefulSetController: {
    ConcurrentStatefulSetSyncs: 5,
  },
  DeprecatedController: {},
  EndpointController: {
    ConcurrentEndpointSyncs: 5,
    EndpointUpdatesBatchPeriod: '0s',
  },
  EndpointSliceController: {
    ConcurrentServiceEndpointSyncs: 5,
    MaxEndpointsPerSlice: 100,
    EndpointUpdatesBatchPeriod: '0s',
  },
  EndpointSliceMirroringController: {
    MirroringConcurrentServiceEndpointSyncs: 5,
    MirroringMaxEndpointsPerSubset: 1000,
    MirroringEndpointUpdatesBatchPeriod: '0s',
  },
  EphemeralVolumeController: {
    ConcurrentEphemeralVolumeSyncs: 5,
  },
  GarbageCollectorController: {
    EnableGarbageCollector: true,
    ConcurrentGCSyncs: 20,
    GCIgnoredResources: [
      {
        Group: '',
        Resource: 'events',
      },
      {
        Group: 'events.k8s.io',
        Resource: 'events',
      },
    ],
  },
  HPAController: {
    ConcurrentHorizontalPodAutoscalerSyncs: 5,
    HorizontalPodAutoscalerSyncPeriod: '15s',
    HorizontalPodAutoscalerDownscaleStabilizationWindow: '5m0s',
    HorizontalPodAutoscalerTolerance: 0.1,
    HorizontalPodAutoscalerCPUInitializationPeriod: '5m0s',
    HorizontalPodAutoscalerInitialReadinessDelay: '30s',
  },
  JobController: {
    ConcurrentJobSyncs: 5,
  },
  CronJobController: {
    ConcurrentCronJobSyncs: 5,
  },
  LegacySATokenCleaner: {
    CleanUpPeriod: '8760h0m0s',
  },
  NamespaceController: {
    NamespaceSyncPeriod: '5m0s',
    ConcurrentNamespaceSyncs: 10,
  },
  NodeIPAMController: {
    ServiceCIDR: '',
    SecondaryServiceCIDR: '',
    NodeCIDRMaskSize: 0,
    NodeCIDRMaskSizeIPv4: 0,
    NodeCIDRMaskSizeIPv6: 0,
  },
  NodeLifecycleController: {
    NodeEvictionRate: 0.1,
    SecondaryNodeEvictionRate: 0.01,
    NodeStartupGracePeriod: '1m0s',
    NodeMonitorGracePeriod: '50s',
    PodEvictionTimeout: '0s',
    LargeClusterSizeThreshold: 50,
    UnhealthyZoneThreshold: 0.55,
  },
  PersistentVolumeBinderController: {
    PVClaimBinderSyncPeriod: '15s',
    VolumeConfiguration: {
      EnableHostPathProvisioning: false,
      EnableDynamicProvisioning: true,
      PersistentVolumeRecyclerConfiguration: {
        MaximumRetry: 3,
        MinimumTimeoutNFS: 300,
        PodTemplateFilePathNFS: '',
        IncrementTimeoutNFS: 30,
        PodTemplateFilePathHostPath: '',
        MinimumTimeoutHostPath: 60,
        IncrementTimeoutHostPath: 30,
      },
      FlexVolumePluginDir: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
    },
  },
  PodGCController: {
    TerminatedPodGCThreshold: 12500,
  },
  ReplicaSetController: {
    ConcurrentRSSyncs: 5,
  },
  ReplicationController: {
    ConcurrentRCSyncs: 5,
  },
  ResourceQuotaController: {
    ResourceQuotaSyncPeriod: '5m0s',
    ConcurrentResourceQuotaSyncs: 5,
  },
  SAController: {
    ServiceAccountKeyFile: '',
    ConcurrentSATokenSyncs: 5,
    RootCAFile: '',
  },
  ServiceController: {
    ConcurrentServiceSyncs: 1,
  },
  TTLAfterFinishedController: {
    ConcurrentTTLSyncs: 5,
  },
  ValidatingAdmissionPolicyStatusController: {
    ConcurrentPolicySyncs: 5,
  },
  DeviceTaintEvictionController: {
    ConcurrentSyncs: 8,
  },
  ResourceClaimController: {
    ConcurrentSyncs: 50,
  },
}
