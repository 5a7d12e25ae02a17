/**
 * What the OpenAPI documents do not tell about Kubernetes' Go types and what clients nevertheless see: which zero values
 * are written, and the type names in decode errors.
 */
import type { FieldSchema } from '@gyropilot/api'

type FieldTable = Readonly<Record<string, string>>

function has(table: FieldTable, struct: string, field: string): boolean {
  return Object.hasOwn(table, struct) && table[struct]!.split(' ').includes(field)
}

/** Optional numbers and booleans that are plain values: zero and false are not written. All others are pointers. */
const PLAIN_NUMBERS: FieldTable = {
  'admissionregistration-v1.ValidatingAdmissionPolicyStatus': 'observedGeneration',
  'apps-v1.DaemonSetSpec': 'minReadySeconds',
  'apps-v1.DaemonSetStatus':
    'numberAvailable numberUnavailable observedGeneration updatedNumberScheduled',
  'apps-v1.DeploymentSpec': 'minReadySeconds paused',
  'apps-v1.DeploymentStatus':
    'availableReplicas observedGeneration readyReplicas replicas unavailableReplicas updatedReplicas',
  'apps-v1.ReplicaSetSpec': 'minReadySeconds',
  'apps-v1.ReplicaSetStatus':
    'availableReplicas fullyLabeledReplicas observedGeneration readyReplicas',
  'apps-v1.StatefulSetSpec': 'minReadySeconds',
  'apps-v1.StatefulSetStatus': 'currentReplicas observedGeneration readyReplicas updatedReplicas',
  'authentication-v1.TokenReviewStatus': 'authenticated',
  'authorization-v1.SubjectAccessReviewStatus': 'denied',
  'autoscaling-v1.ScaleSpec': 'replicas',
  'autoscaling-v2.HorizontalPodAutoscalerStatus': 'currentReplicas',
  'batch-v1.JobStatus': 'active failed succeeded',
  'core-v1.AWSElasticBlockStoreVolumeSource': 'partition readOnly',
  'core-v1.AzureFilePersistentVolumeSource': 'readOnly',
  'core-v1.AzureFileVolumeSource': 'readOnly',
  'core-v1.CSIPersistentVolumeSource': 'readOnly',
  'core-v1.CephFSPersistentVolumeSource': 'readOnly',
  'core-v1.CephFSVolumeSource': 'readOnly',
  'core-v1.CinderPersistentVolumeSource': 'readOnly',
  'core-v1.CinderVolumeSource': 'readOnly',
  'core-v1.Container': 'stdin stdinOnce tty',
  'core-v1.ContainerImage': 'sizeBytes',
  'core-v1.ContainerPort': 'hostPort',
  'core-v1.ContainerStateTerminated': 'signal',
  'core-v1.EphemeralContainer': 'stdin stdinOnce tty',
  'core-v1.Event': 'count',
  'core-v1.EventSeries': 'count',
  'core-v1.FCVolumeSource': 'readOnly',
  'core-v1.FlexPersistentVolumeSource': 'readOnly',
  'core-v1.FlexVolumeSource': 'readOnly',
  'core-v1.GCEPersistentDiskVolumeSource': 'partition readOnly',
  'core-v1.GlusterfsPersistentVolumeSource': 'readOnly',
  'core-v1.GlusterfsVolumeSource': 'readOnly',
  'core-v1.ISCSIPersistentVolumeSource': 'chapAuthDiscovery chapAuthSession readOnly',
  'core-v1.ISCSIVolumeSource': 'chapAuthDiscovery chapAuthSession readOnly',
  'core-v1.NFSVolumeSource': 'readOnly',
  'core-v1.NodeSpec': 'unschedulable',
  'core-v1.PersistentVolumeClaimVolumeSource': 'readOnly',
  'core-v1.PodCondition': 'observedGeneration',
  'core-v1.PodSpec': 'hostIPC hostNetwork hostPID',
  'core-v1.PodStatus': 'observedGeneration',
  'core-v1.PortworxVolumeSource': 'readOnly',
  'core-v1.Probe':
    'failureThreshold initialDelaySeconds periodSeconds successThreshold timeoutSeconds',
  'core-v1.QuobyteVolumeSource': 'readOnly',
  'core-v1.RBDPersistentVolumeSource': 'readOnly',
  'core-v1.RBDVolumeSource': 'readOnly',
  'core-v1.ReplicationControllerSpec': 'minReadySeconds',
  'core-v1.ReplicationControllerStatus':
    'availableReplicas fullyLabeledReplicas observedGeneration readyReplicas',
  'core-v1.ScaleIOPersistentVolumeSource': 'readOnly sslEnabled',
  'core-v1.ScaleIOVolumeSource': 'readOnly sslEnabled',
  'core-v1.ServicePort': 'nodePort',
  'core-v1.ServiceSpec': 'healthCheckNodePort publishNotReadyAddresses',
  'core-v1.StorageOSPersistentVolumeSource': 'readOnly',
  'core-v1.StorageOSVolumeSource': 'readOnly',
  'core-v1.VolumeMount': 'readOnly',
  'core-v1.VolumeMountStatus': 'readOnly',
  'events-v1.Event': 'deprecatedCount',
  'flowcontrol-v1.ResourcePolicyRule': 'clusterScope',
  'networking-v1.ServiceBackendPort': 'number',
  'policy-v1.PodDisruptionBudgetStatus': 'observedGeneration',
  'resource-v1.ExactDeviceRequest': 'count',
  'resource-v1.DeviceSubRequest': 'count',
  'resource-v1beta1.DeviceRequest': 'count',
  'resource-v1beta1.ResourceSliceSpec': 'allNodes',
  'scheduling-v1.PriorityClass': 'globalDefault',
  'apiextensions-v1.CustomResourceColumnDefinition': 'priority',
  'apiextensions-v1.CustomResourceDefinitionSpec': 'preserveUnknownFields',
  'apiextensions-v1.CustomResourceDefinitionVersion': 'deprecated',
  'apiextensions-v1.CustomResourceDefinitionCondition': 'observedGeneration',
  'apiextensions-v1.CustomResourceDefinitionStatus': 'observedGeneration',
  'apiextensions-v1.JSONSchemaProps':
    'exclusiveMaximum exclusiveMinimum nullable uniqueItems x-kubernetes-embedded-resource x-kubernetes-int-or-string',
  'meta-v1.Condition': 'observedGeneration',
  'meta-v1.ObjectMeta': 'generation',
  'meta-v1.Status': 'code',
  'meta-v1.StatusDetails': 'retryAfterSeconds',
  'apiregistration-v1.APIServiceSpec': 'insecureSkipTLSVerify',
}

/** Optional strings that are pointers: the empty string is kept. */
const POINTER_STRINGS: FieldTable = {
  'admissionregistration-v1.MutatingWebhook':
    'failurePolicy matchPolicy sideEffects reinvocationPolicy',
  'admissionregistration-v1.ValidatingWebhook': 'failurePolicy matchPolicy sideEffects',
  'admissionregistration-v1.ServiceReference': 'path',
  'admissionregistration-v1.WebhookClientConfig': 'url',
  'admissionregistration-v1.RuleWithOperations': 'scope',
  'admissionregistration-v1.NamedRuleWithOperations': 'scope',
  'admissionregistration-v1.MatchResources': 'matchPolicy',
  'admissionregistration-v1.ParamRef': 'parameterNotFoundAction',
  'admissionregistration-v1.ValidatingAdmissionPolicySpec': 'failurePolicy',
  'admissionregistration-v1.MutatingAdmissionPolicySpec': 'failurePolicy',
  'admissionregistration-v1alpha1.MutatingAdmissionPolicySpec': 'failurePolicy',
  'admissionregistration-v1alpha1.ParamRef': 'parameterNotFoundAction',
  'admissionregistration-v1beta1.MatchResources': 'matchPolicy',
  'admissionregistration-v1beta1.MutatingAdmissionPolicySpec': 'failurePolicy',
  'admissionregistration-v1.Validation': 'reason',
  'apps-v1.DaemonSetUpdateStrategy': '',
  'autoscaling-v2.HPAScalingRules': 'selectPolicy',
  'batch-v1.CronJobSpec': 'timeZone',
  'batch-v1.JobSpec': 'completionMode managedBy podReplacementPolicy',
  'batch-v1.JobStatus': 'failedIndexes',
  'batch-v1.PodFailurePolicyOnExitCodesRequirement': 'containerName',
  'batch-v1.SuccessPolicyRule': 'succeededIndexes',
  'coordination-v1.LeaseSpec': 'holderIdentity preferredHolder strategy',
  'core-v1.AzureDiskVolumeSource': 'cachingMode fsType kind',
  'core-v1.AzureFilePersistentVolumeSource': 'secretNamespace',
  'core-v1.CSIVolumeSource': 'driver fsType',
  'core-v1.ClusterTrustBundleProjection': 'name signerName',
  'core-v1.Container': 'restartPolicy',
  'core-v1.ContainerStatus': 'started stopSignal',
  'core-v1.EmptyDirVolumeSource': '',
  'core-v1.EndpointAddress': 'nodeName',
  'core-v1.EndpointPort': 'appProtocol',
  'core-v1.EphemeralContainer': 'restartPolicy',
  'core-v1.GlusterfsPersistentVolumeSource': 'endpointsNamespace',
  'core-v1.GRPCAction': 'service',
  'core-v1.HostPathVolumeSource': 'type',
  'core-v1.ISCSIPersistentVolumeSource': 'initiatorName',
  'core-v1.ISCSIVolumeSource': 'initiatorName',
  'core-v1.Lifecycle': 'stopSignal',
  'core-v1.LoadBalancerIngress': 'ipMode',
  'core-v1.LocalVolumeSource': 'fsType',
  'core-v1.PersistentVolumeSpec': 'volumeMode volumeAttributesClassName',
  'core-v1.PersistentVolumeClaimSpec': 'storageClassName volumeMode volumeAttributesClassName',
  'core-v1.PersistentVolumeClaimStatus': 'currentVolumeAttributesClassName',
  'core-v1.PodDNSConfigOption': 'value',
  'core-v1.PodResourceClaim': 'resourceClaimName resourceClaimTemplateName',
  'core-v1.PodResourceClaimStatus': 'resourceClaimName',
  'core-v1.PodSchedulingGroup': 'podGroupName',
  'core-v1.PodSecurityContext': 'fsGroupChangePolicy supplementalGroupsPolicy seLinuxChangePolicy',
  'core-v1.PodSpec': 'runtimeClassName preemptionPolicy hostnameOverride',
  'core-v1.PortStatus': 'error',
  'core-v1.ResourceHealth': 'message',
  'core-v1.SeccompProfile': 'localhostProfile',
  'core-v1.AppArmorProfile': 'localhostProfile',
  'core-v1.SecurityContext': 'procMount',
  'core-v1.ServicePort': 'appProtocol',
  'core-v1.ServiceSpec':
    'ipFamilyPolicy loadBalancerClass internalTrafficPolicy trafficDistribution',
  'core-v1.TopologySpreadConstraint': 'nodeAffinityPolicy nodeTaintsPolicy',
  'core-v1.TypedLocalObjectReference': 'apiGroup',
  'core-v1.TypedObjectReference': 'apiGroup namespace',
  'core-v1.VolumeMount': 'mountPropagation recursiveReadOnly',
  'core-v1.VolumeMountStatus': 'recursiveReadOnly',
  'core-v1.WindowsSecurityContextOptions':
    'gmsaCredentialSpec gmsaCredentialSpecName runAsUserName',
  'discovery-v1.Endpoint': 'hostname nodeName zone',
  'discovery-v1.EndpointPort': 'name protocol appProtocol',
  'meta-v1.DeleteOptions': 'propagationPolicy',
  'meta-v1.Preconditions': 'uid resourceVersion',
  'networking-v1.HTTPIngressPath': 'pathType',
  'networking-v1.IngressClassParametersReference': 'apiGroup namespace scope',
  'networking-v1.IngressPortStatus': 'error',
  'networking-v1.IngressSpec': 'ingressClassName',
  'networking-v1.NetworkPolicyPort': 'protocol',
  'policy-v1.PodDisruptionBudgetSpec': 'unhealthyPodEvictionPolicy',
  'resource-v1.AllocatedDeviceStatus': 'shareID',
  'resource-v1.DeviceAttribute': 'string version',
  'resource-v1.DeviceClassSpec': 'extendedResourceName',
  'resource-v1.DeviceConstraint': 'distinctAttribute matchAttribute',
  'resource-v1.DeviceRequestAllocationResult': 'shareID',
  'resource-v1.ResourceSliceSpec': 'nodeName',
  'resource-v1.Device': 'nodeName',
  'resource-v1beta1.BasicDevice': 'nodeName',
  'resource-v1alpha3.PoolStatus': 'nodeName validationError',
  'resource-v1alpha3.ResourcePoolStatusRequestSpec': 'poolName',
  'resource-v1beta2.DeviceTaintSelector': 'driver pool device',
  'apiserverinternal-v1alpha1.StorageVersionStatus': 'commonEncodingVersion',
  'scheduling-v1.PriorityClass': 'preemptionPolicy',
  'scheduling-v1alpha2.PodGroupResourceClaim': 'resourceClaimName resourceClaimTemplateName',
  'scheduling-v1alpha2.PodGroupResourceClaimStatus': 'resourceClaimName',
  'scheduling-v1alpha2.PodGroupSpec': 'disruptionMode',
  'scheduling-v1alpha2.PodGroupTemplate': 'disruptionMode',
  'storage-v1.CSIDriverSpec': 'fsGroupPolicy',
  'storage-v1.StorageClass': 'reclaimPolicy volumeBindingMode',
  'storage-v1.VolumeAttachmentSource': 'persistentVolumeName',
  'apiextensions-v1.CustomResourceDefinitionVersion': 'deprecationWarning',
  'apiextensions-v1.ServiceReference': 'path',
  'apiextensions-v1.WebhookClientConfig': 'url',
  'apiextensions-v1.CustomResourceSubresourceScale': 'labelSelectorPath',
  'apiextensions-v1.JSONSchemaProps': '$ref x-kubernetes-list-type x-kubernetes-map-type',
  'apiextensions-v1.ValidationRule': 'reason',
}

/** Fields with a zero default in the document that are left out all the same. */
const OMITTED_DEFAULTS: FieldTable = {
  'autoscaling-v1.ScaleSpec': 'replicas',
  'core-v1.LocalObjectReference': 'name',
  'core-v1.ConfigMapEnvSource': 'name',
  'core-v1.ConfigMapKeySelector': 'name',
  'core-v1.ConfigMapProjection': 'name',
  'core-v1.ConfigMapVolumeSource': 'name',
  'core-v1.SecretEnvSource': 'name',
  'core-v1.SecretKeySelector': 'name',
  'core-v1.SecretProjection': 'name',
  'core-v1.GRPCAction': 'service',
  'core-v1.AzureDiskVolumeSource': 'readOnly',
  'core-v1.ReplicationControllerSpec': 'replicas minReadySeconds',
  'meta-v1.ListMeta': 'resourceVersion continue',
}

/** Amounts that are plain values: zero is written. All others are pointers. */
const PLAIN_QUANTITIES: FieldTable = {
  'resource-v1.Counter': 'value',
  'resource-v1.DeviceCapacity': 'value',
}

/** Written as null when unset, beside required lists and the times of conditions. */
const WRITTEN_NULL: FieldTable = {
  'rbac-v1.Role': 'rules',
  'rbac-v1.ClusterRole': 'rules',
  'discovery-v1.EndpointSlice': 'endpoints ports',
  'autoscaling-v2.HorizontalPodAutoscalerStatus': 'currentMetrics',
  'core-v1.Event': 'firstTimestamp lastTimestamp eventTime',
  'core-v1.AzureFilePersistentVolumeSource': 'secretNamespace',
  'core-v1.EventSeries': 'lastObservedTime',
  'core-v1.ContainerStateRunning': 'startedAt',
  'core-v1.ContainerStateTerminated': 'startedAt finishedAt',
  'events-v1.Event': 'eventTime deprecatedFirstTimestamp deprecatedLastTimestamp',
  'events-v1.EventSeries': 'lastObservedTime',
  'storage-v1.VolumeError': 'time',
  'storage-v1.CSINodeDriver': 'topologyKeys',
  'apiextensions-v1.CustomResourceDefinitionStatus': 'conditions',
  'authentication-v1.TokenRequestSpec': 'audiences boundObjectRef',
  'core-v1.TypedLocalObjectReference': 'apiGroup',
  'core-v1.TypedObjectReference': 'apiGroup',
  'resource-v1.AllocatedDeviceStatus': 'conditions',
  'resource-v1.CapacityRequestPolicy': 'default',
  'resource-v1.DeviceClaim': 'requests',
  'resource-v1beta1.DeviceClaim': 'requests',
  'flowcontrol-v1.ResourcePolicyRule': 'namespaces',
  'certificates-v1beta1.PodCertificateRequestSpec':
    'pkixPublicKey proofOfPossession stubPKCS10Request',
  'scheduling-v1alpha2.PodGroupSpec': 'podGroupTemplateRef',
  'scheduling-v1alpha2.PodGroupTemplate': 'schedulingConstraints',
}

/** `pointer`: only absence is left out. `plain`: the zero value is left out too. `always`: written even when unset. */
export type Presence = 'pointer' | 'plain' | 'always'

export function presenceOf(
  struct: string,
  name: string,
  field: FieldSchema,
  required: boolean,
): Presence {
  if (has(WRITTEN_NULL, struct, name)) return 'always'
  switch (field.type) {
    case 'time':
    case 'microtime':
      return struct.endsWith('Condition') && !has(OMITTED_DEFAULTS, struct, name)
        ? 'always'
        : required
          ? 'always'
          : 'pointer'
    case 'array':
    case 'map':
      return required ? 'always' : 'plain'
    case 'object':
      return field.default === undefined ? 'pointer' : 'always'
    case 'string':
      if (isZero(field.default) && !has(OMITTED_DEFAULTS, struct, name)) return 'always'
      return has(POINTER_STRINGS, struct, name) ? 'pointer' : 'plain'
    case 'int32':
    case 'int64':
    case 'double':
    case 'boolean':
      if (isZero(field.default) && !has(OMITTED_DEFAULTS, struct, name)) return 'always'
      return has(PLAIN_NUMBERS, struct, name) ? 'plain' : 'pointer'
    case 'bytes':
      return 'plain'
    case 'quantity':
      return has(PLAIN_QUANTITIES, struct, name) ? 'always' : 'pointer'
    default:
      return 'pointer'
  }
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false
}

/** Structs whose fields reach the wire through an embedded struct, which decode errors name. */
const EMBEDDED: Readonly<Record<string, { readonly name: string; readonly own: string }>> = {
  'core-v1.Volume': { name: 'VolumeSource', own: 'name' },
  'meta-v1.DeleteOptions': {
    name: 'TypeMeta',
    own: 'gracePeriodSeconds preconditions orphanDependents propagationPolicy dryRun ignoreStoreReadErrorWithClusterBreakingPotential',
  },
  'core-v1.PersistentVolumeClaim': { name: 'TypeMeta', own: 'metadata spec status' },
  'core-v1.PersistentVolumeSpec': {
    name: 'PersistentVolumeSource',
    own: 'capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode nodeAffinity volumeAttributesClassName',
  },
  'core-v1.Probe': {
    name: 'ProbeHandler',
    own: 'initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold terminationGracePeriodSeconds',
  },
  'core-v1.EphemeralContainer': { name: 'EphemeralContainerCommon', own: 'targetContainerName' },
  'core-v1.EnvFromSource': { name: '', own: '' },
  'core-v1.ConfigMapKeySelector': { name: 'LocalObjectReference', own: 'key optional' },
  'core-v1.SecretKeySelector': { name: 'LocalObjectReference', own: 'key optional' },
  'core-v1.ConfigMapEnvSource': { name: 'LocalObjectReference', own: 'optional' },
  'core-v1.SecretEnvSource': { name: 'LocalObjectReference', own: 'optional' },
  'core-v1.ConfigMapProjection': { name: 'LocalObjectReference', own: 'items optional' },
  'core-v1.SecretProjection': { name: 'LocalObjectReference', own: 'items optional' },
  'core-v1.ConfigMapVolumeSource': {
    name: 'LocalObjectReference',
    own: 'items defaultMode optional',
  },
  'resource-v1.DeviceAllocationConfiguration': {
    name: 'DeviceConfiguration',
    own: 'source requests',
  },
  'resource-v1.DeviceClaimConfiguration': { name: 'DeviceConfiguration', own: 'requests' },
  'resource-v1.DeviceClassConfiguration': { name: 'DeviceConfiguration', own: '' },
  'networking-v1.IngressRule': { name: 'IngressRuleValue', own: 'host' },
  'admissionregistration-v1.RuleWithOperations': { name: 'Rule', own: 'operations' },
}

/** The part of a decode error's path for one field: `VolumeSource.emptyDir`. */
export function errorPathOf(struct: string, field: string): string {
  if (struct === 'admissionregistration-v1.NamedRuleWithOperations' && field !== 'resourceNames') {
    return field === 'operations'
      ? 'RuleWithOperations.operations'
      : `RuleWithOperations.Rule.${field}`
  }
  const embedded = EMBEDDED[struct]
  if (embedded === undefined || embedded.name === '' || embedded.own.split(' ').includes(field))
    return field
  return `${embedded.name}.${field}`
}
