/** Contract: docs/behaviour/runtime/manager.md, Flags. */
import { group } from './flag-group.ts'
import type { FlagGroup } from './flag-group.ts'

export const controllerFlags: readonly FlagGroup[] = [
  group('Service-lb-controller', [
    [
      'concurrent-service-syncs',
      'int',
      '1',
      'Services synced at the same time.',
      'cloud loops run in cloud-controller-manager',
    ],
  ]),
  group('Persistentvolume-attach-detach-controller', [
    [
      'attach-detach-reconcile-sync-period',
      'duration',
      '1m0s',
      'Period of the reconciler, at least one second.',
    ],
    ['disable-attach-detach-reconcile-sync', 'bool', 'false', "Turn the reconciler's sync off."],
    ['disable-force-detach-on-timeout', 'bool', 'false', 'Never force-detach after a timeout.'],
  ]),
  group('Certificatesigningrequest-signing-controller', [
    ['cluster-signing-cert-file', 'string', '', 'PEM certificate of the CA for all signers.'],
    [
      'cluster-signing-duration',
      'duration',
      '8760h0m0s',
      'Longest duration of signed certificates.',
    ],
    ['cluster-signing-key-file', 'string', '', 'PEM key of the CA for all signers.'],
    [
      'cluster-signing-kube-apiserver-client-cert-file',
      'string',
      '',
      'CA certificate of kubernetes.io/kube-apiserver-client.',
    ],
    [
      'cluster-signing-kube-apiserver-client-key-file',
      'string',
      '',
      'CA key of kubernetes.io/kube-apiserver-client.',
    ],
    [
      'cluster-signing-kubelet-client-cert-file',
      'string',
      '',
      'CA certificate of kubernetes.io/kube-apiserver-client-kubelet.',
    ],
    [
      'cluster-signing-kubelet-client-key-file',
      'string',
      '',
      'CA key of kubernetes.io/kube-apiserver-client-kubelet.',
    ],
    [
      'cluster-signing-kubelet-serving-cert-file',
      'string',
      '',
      'CA certificate of kubernetes.io/kubelet-serving.',
    ],
    [
      'cluster-signing-kubelet-serving-key-file',
      'string',
      '',
      'CA key of kubernetes.io/kubelet-serving.',
    ],
    [
      'cluster-signing-legacy-unknown-cert-file',
      'string',
      '',
      'CA certificate of kubernetes.io/legacy-unknown.',
    ],
    [
      'cluster-signing-legacy-unknown-key-file',
      'string',
      '',
      'CA key of kubernetes.io/legacy-unknown.',
    ],
  ]),
  group('Deployment-controller', [
    ['concurrent-deployment-syncs', 'int', '5', 'Deployments synced at the same time.'],
  ]),
  group('Statefulset-controller', [
    ['concurrent-statefulset-syncs', 'int', '5', 'StatefulSets synced at the same time.'],
  ]),
  group('Daemonset-controller', [
    ['concurrent-daemonset-syncs', 'int', '2', 'DaemonSets synced at the same time.'],
  ]),
  group('Device-taint-eviction-controller', [
    [
      'concurrent-device-taint-eviction-syncs',
      'int',
      '8',
      'Device taint evictions at the same time.',
    ],
  ]),
  group('Endpoints-controller', [
    ['concurrent-endpoint-syncs', 'int', '5', 'Endpoints synced at the same time.'],
    [
      'endpoint-updates-batch-period',
      'duration',
      '0s',
      'How long Endpoints updates of pods are collected.',
    ],
  ]),
  group('Endpointslice-controller', [
    [
      'concurrent-service-endpoint-syncs',
      'int',
      '5',
      'Services whose EndpointSlices are synced at the same time, 1 to 50.',
    ],
    [
      'endpointslice-updates-batch-period',
      'duration',
      '0s',
      'How long EndpointSlice updates of pods are collected.',
    ],
    ['max-endpoints-per-slice', 'int', '100', 'Endpoints in one EndpointSlice, 1 to 1000.'],
  ]),
  group('Endpointslice-mirroring-controller', [
    [
      'mirroring-concurrent-service-endpoint-syncs',
      'int',
      '5',
      'Endpoints mirrored at the same time, 1 to 50.',
    ],
    [
      'mirroring-endpointslice-updates-batch-period',
      'duration',
      '0s',
      'How long mirroring updates are collected.',
    ],
    [
      'mirroring-max-endpoints-per-subset',
      'int',
      '1000',
      'Endpoints in one mirrored EndpointSlice, 1 to 1000.',
    ],
  ]),
  group('Ephemeral-volume-controller', [
    ['concurrent-ephemeralvolume-syncs', 'int', '5', 'Ephemeral volumes synced at the same time.'],
  ]),
  group('Garbage-collector-controller', [
    ['concurrent-gc-syncs', 'int', '20', 'Garbage collector workers.'],
    [
      'enable-garbage-collector',
      'bool',
      'true',
      "Run the generic garbage collector; must match the API server's flag.",
    ],
  ]),
  group('Horizontal-pod-autoscaler-controller', [
    [
      'concurrent-horizontal-pod-autoscaler-syncs',
      'int',
      '5',
      'HorizontalPodAutoscalers synced at the same time.',
    ],
    [
      'horizontal-pod-autoscaler-cpu-initialization-period',
      'duration',
      '5m0s',
      "Time after a pod's start in which CPU samples may be skipped.",
    ],
    [
      'horizontal-pod-autoscaler-downscale-stabilization',
      'duration',
      '5m0s',
      'How far back the autoscaler looks before it scales down.',
    ],
    [
      'horizontal-pod-autoscaler-initial-readiness-delay',
      'duration',
      '30s',
      "Time after a pod's start in which readiness changes count as initial.",
    ],
    ['horizontal-pod-autoscaler-sync-period', 'duration', '15s', 'Period for syncing.'],
    [
      'horizontal-pod-autoscaler-tolerance',
      'float',
      '0.1',
      'Change of the ratio below which nothing is scaled.',
    ],
  ]),
  group('Job-controller', [['concurrent-job-syncs', 'int', '5', 'Jobs synced at the same time.']]),
  group('Cronjob-controller', [
    ['concurrent-cron-job-syncs', 'int', '5', 'CronJobs synced at the same time.'],
  ]),
  group('Legacy-serviceaccount-token-cleaner-controller', [
    [
      'legacy-service-account-token-clean-up-period',
      'duration',
      '8760h0m0s',
      'How long an unused legacy token lives.',
    ],
  ]),
  group('Namespace-controller', [
    ['concurrent-namespace-syncs', 'int', '10', 'Namespaces synced at the same time.'],
    ['namespace-sync-period', 'duration', '5m0s', 'Period for syncing namespaces.'],
  ]),
  group('Node-ipam-controller', [
    [
      'node-cidr-mask-size',
      'int',
      '0',
      "Mask size of a node's CIDR; 24 for IPv4 and 64 for IPv6 by default.",
    ],
    [
      'node-cidr-mask-size-ipv4',
      'int',
      '0',
      "Mask size of a node's IPv4 CIDR in dual-stack clusters.",
    ],
    [
      'node-cidr-mask-size-ipv6',
      'int',
      '0',
      "Mask size of a node's IPv6 CIDR in dual-stack clusters.",
    ],
    [
      'service-cluster-ip-range',
      'string',
      '',
      'CIDR range of Services; needs --allocate-node-cidrs.',
    ],
  ]),
  group('Node-lifecycle-controller', [
    [
      'large-cluster-size-threshold',
      'int',
      '50',
      'Nodes above which a cluster counts as large for eviction.',
    ],
    [
      'node-eviction-rate',
      'float32',
      '0.1',
      'Nodes per second from which pods are deleted in a healthy zone.',
    ],
    [
      'node-monitor-grace-period',
      'duration',
      '50s',
      'How long a node may be silent before it is unhealthy.',
    ],
    ['node-startup-grace-period', 'duration', '1m0s', 'The same for nodes that have just started.'],
    ['secondary-node-eviction-rate', 'float32', '0.01', 'The eviction rate in an unhealthy zone.'],
    [
      'unhealthy-zone-threshold',
      'float32',
      '0.55',
      'Share of unhealthy nodes that makes a zone unhealthy.',
    ],
  ]),
  group('Persistentvolume-binder-controller', [
    [
      'enable-dynamic-provisioning',
      'bool',
      'true',
      'Dynamic provisioning for environments that support it.',
    ],
    ['enable-hostpath-provisioner', 'bool', 'false', 'HostPath provisioning, for tests.'],
    [
      'flex-volume-plugin-dir',
      'string',
      '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
      'Folder of flex volume plugins.',
      'no in-tree volume plugins',
    ],
    ['pv-recycler-increment-timeout-nfs', 'int', '30', 'Seconds per GiB for an NFS scrubber pod.'],
    [
      'pv-recycler-minimum-timeout-hostpath',
      'int',
      '60',
      'Least seconds for a HostPath scrubber pod.',
    ],
    ['pv-recycler-minimum-timeout-nfs', 'int', '300', 'Least seconds for an NFS scrubber pod.'],
    [
      'pv-recycler-pod-template-filepath-hostpath',
      'string',
      '',
      'Template file of HostPath scrubber pods.',
    ],
    ['pv-recycler-pod-template-filepath-nfs', 'string', '', 'Template file of NFS scrubber pods.'],
    [
      'pv-recycler-timeout-increment-hostpath',
      'int',
      '30',
      'Seconds per GiB for a HostPath scrubber pod.',
    ],
    ['pvclaimbinder-sync-period', 'duration', '15s', 'Period for syncing volumes and claims.'],
  ]),
  group('Pod-garbage-collector-controller', [
    [
      'terminated-pod-gc-threshold',
      'int',
      '12500',
      'Terminated pods that may exist before they are deleted; 0 or less: any.',
    ],
  ]),
  group('Replicaset-controller', [
    ['concurrent-replicaset-syncs', 'int', '5', 'ReplicaSets synced at the same time.'],
  ]),
  group('Replicationcontroller-controller', [
    ['concurrent-rc-syncs', 'int', '5', 'ReplicationControllers synced at the same time.'],
  ]),
  group('Resourceclaim-controller', [
    ['concurrent-resourceclaim-syncs', 'int', '50', 'ResourceClaims synced at the same time.'],
  ]),
  group('Resourcequota-controller', [
    ['concurrent-resource-quota-syncs', 'int', '5', 'ResourceQuotas synced at the same time.'],
    ['resource-quota-sync-period', 'duration', '5m0s', 'Period for recalculating quota usage.'],
  ]),
  group('Serviceaccount-controller', [
    [
      'concurrent-serviceaccount-token-syncs',
      'int',
      '5',
      'Service account tokens synced at the same time.',
    ],
    [
      'root-ca-file',
      'string',
      '',
      "Root CA file put into service account token Secrets and kube-root-ca.crt; empty: the kubeconfig's CA.",
    ],
    [
      'service-account-private-key-file',
      'string',
      '',
      'PEM private key that signs service account tokens.',
    ],
  ]),
  group('Ttl-after-finished-controller', [
    ['concurrent-ttl-after-finished-syncs', 'int', '5', 'Finished Jobs cleaned at the same time.'],
  ]),
  group('Validatingadmissionpolicy-status-controller', [
    [
      'concurrent-validating-admission-policy-status-syncs',
      'int',
      '5',
      'ValidatingAdmissionPolicies synced at the same time.',
    ],
  ]),
]
