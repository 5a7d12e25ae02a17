/** Names of Go types as decode errors print them. */
import type { FieldSchema } from '@gyropilot/api'

/** Fields of a named string type, by field name where one name means one type everywhere. */
const BY_FIELD: Readonly<Record<string, string>> = {
  restartPolicy: 'v1.RestartPolicy',
  dnsPolicy: 'v1.DNSPolicy',
  imagePullPolicy: 'v1.PullPolicy',
  pullPolicy: 'v1.PullPolicy',
  terminationMessagePolicy: 'v1.TerminationMessagePolicy',
  protocol: 'v1.Protocol',
  accessModes: 'v1.PersistentVolumeAccessMode',
  persistentVolumeReclaimPolicy: 'v1.PersistentVolumeReclaimPolicy',
  reclaimPolicy: 'v1.PersistentVolumeReclaimPolicy',
  volumeMode: 'v1.PersistentVolumeMode',
  volumeBindingMode: 'v1.VolumeBindingMode',
  effect: 'v1.TaintEffect',
  whenUnsatisfiable: 'v1.UnsatisfiableConstraintAction',
  sessionAffinity: 'v1.ServiceAffinity',
  externalTrafficPolicy: 'v1.ServiceExternalTrafficPolicy',
  internalTrafficPolicy: 'v1.ServiceInternalTrafficPolicy',
  ipFamilies: 'v1.IPFamily',
  ipFamilyPolicy: 'v1.IPFamilyPolicy',
  addressType: 'v1.AddressType',
  concurrencyPolicy: 'v1.ConcurrencyPolicy',
  completionMode: 'v1.CompletionMode',
  podReplacementPolicy: 'v1.PodReplacementPolicy',
  podManagementPolicy: 'v1.PodManagementPolicyType',
  policyTypes: 'v1.PolicyType',
  pathType: 'v1.PathType',
  preemptionPolicy: 'v1.PreemptionPolicy',
  failurePolicy: 'v1.FailurePolicyType',
  matchPolicy: 'v1.MatchPolicyType',
  sideEffects: 'v1.SideEffectClass',
  reinvocationPolicy: 'v1.ReinvocationPolicyType',
  operations: 'v1.OperationType',
  usages: 'v1.KeyUsage',
  selectPolicy: 'v2.ScalingPolicySelect',
  fsGroupPolicy: 'v1.FSGroupPolicy',
  volumeLifecycleModes: 'v1.VolumeLifecycleMode',
  mountPropagation: 'v1.MountPropagationMode',
  scheme: 'v1.URIScheme',
  unhealthyPodEvictionPolicy: 'v1.UnhealthyPodEvictionPolicyType',
  whenDeleted: 'v1.PersistentVolumeClaimRetentionPolicyType',
  whenScaled: 'v1.PersistentVolumeClaimRetentionPolicyType',
  uid: 'types.UID',
  validationActions: 'v1.ValidationAction',
  procMount: 'v1.ProcMountType',
  phase: 'v1.Phase',
}

const BY_STRUCT_FIELD: Readonly<Record<string, string>> = {
  'apps-v1.DeploymentStrategy.type': 'v1.DeploymentStrategyType',
  'apps-v1.StatefulSetUpdateStrategy.type': 'v1.StatefulSetUpdateStrategyType',
  'apps-v1.DaemonSetUpdateStrategy.type': 'v1.DaemonSetUpdateStrategyType',
  'autoscaling-v2.MetricSpec.type': 'v2.MetricSourceType',
  'autoscaling-v2.MetricTarget.type': 'v2.MetricTargetType',
  'autoscaling-v2.HPAScalingPolicy.type': 'v2.HPAScalingPolicyType',
  'autoscaling-v2.ResourceMetricSource.name': 'v1.ResourceName',
  'autoscaling-v2.ContainerResourceMetricSource.name': 'v1.ResourceName',
  'core-v1.Capabilities.add': 'v1.Capability',
  'core-v1.Capabilities.drop': 'v1.Capability',
  'core-v1.Container.restartPolicy': 'v1.ContainerRestartPolicy',
  'core-v1.LimitRangeItem.type': 'v1.LimitType',
  'core-v1.Secret.type': 'v1.SecretType',
  'core-v1.ServiceSpec.type': 'v1.ServiceType',
  'core-v1.Toleration.operator': 'v1.TolerationOperator',
  'core-v1.NodeSelectorRequirement.operator': 'v1.NodeSelectorOperator',
  'core-v1.HostPathVolumeSource.type': 'v1.HostPathType',
  'core-v1.AzureDiskVolumeSource.kind': 'v1.AzureDataDiskKind',
  'core-v1.AzureDiskVolumeSource.cachingMode': 'v1.AzureDataDiskCachingMode',
  'core-v1.EmptyDirVolumeSource.medium': 'v1.StorageMedium',
  'core-v1.NamespaceSpec.finalizers': 'v1.FinalizerName',
  'core-v1.ResourceQuotaSpec.scopes': 'v1.ResourceQuotaScope',
  'core-v1.PodStatus.phase': 'v1.PodPhase',
  'core-v1.PodStatus.qosClass': 'v1.PodQOSClass',
  'core-v1.NamespaceStatus.phase': 'v1.NamespacePhase',
  'core-v1.PersistentVolumeStatus.phase': 'v1.PersistentVolumePhase',
  'core-v1.PersistentVolumeClaimStatus.phase': 'v1.PersistentVolumeClaimPhase',
  'core-v1.PodReadinessGate.conditionType': 'v1.PodConditionType',
  'core-v1.PodCondition.type': 'v1.PodConditionType',
  'core-v1.PodCondition.status': 'v1.ConditionStatus',
  'core-v1.NodeCondition.type': 'v1.NodeConditionType',
  'core-v1.NodeCondition.status': 'v1.ConditionStatus',
  'meta-v1.LabelSelectorRequirement.operator': 'v1.LabelSelectorOperator',
  'batch-v1.PodFailurePolicyRule.action': 'v1.PodFailurePolicyAction',
  'batch-v1.PodFailurePolicyOnExitCodesRequirement.operator':
    'v1.PodFailurePolicyOnExitCodesOperator',
  'batch-v1.PodFailurePolicyOnPodConditionsPattern.type': 'v1.PodConditionType',
  'batch-v1.PodFailurePolicyOnPodConditionsPattern.status': 'v1.ConditionStatus',
  'certificates-v1.CertificateSigningRequestSpec.extra': 'map[string]v1.ExtraValue',
}

const NAMED_MAPS: Readonly<Record<string, string>> = {
  limits: 'v1.ResourceList',
  requests: 'v1.ResourceList',
  hard: 'v1.ResourceList',
  used: 'v1.ResourceList',
  capacity: 'v1.ResourceList',
  allocatable: 'v1.ResourceList',
  max: 'v1.ResourceList',
  min: 'v1.ResourceList',
  default: 'v1.ResourceList',
  defaultRequest: 'v1.ResourceList',
  maxLimitRequestRatio: 'v1.ResourceList',
  overhead: 'v1.ResourceList',
  allocatedResources: 'v1.ResourceList',
  podFixed: 'v1.ResourceList',
}

/** `core-v1.PodSpec` -> `v1.PodSpec` */
export function goStructName(schemaName: string): string {
  return schemaName.slice(schemaName.indexOf('-') + 1)
}

/** `PodSpec` */
export function bareStructName(schemaName: string): string {
  return schemaName.slice(schemaName.indexOf('.') + 1)
}

export function goTypeOf(struct: string, name: string, field: FieldSchema): string {
  switch (field.type) {
    case 'array':
      return `[]${goTypeOf(struct, name, field.items!)}`
    case 'map':
      if (field.values!.type === 'quantity' && /^(?:core|node)-v1\./.test(struct))
        return NAMED_MAPS[name] ?? 'map[string]resource.Quantity'
      return `map[string]${goTypeOf('', '', field.values!)}`
    case 'object':
      return goStructName(field.schema!.name)
    case 'boolean':
      return 'bool'
    case 'double':
      return 'float64'
    case 'bytes':
      return '[]uint8'
    case 'quantity':
      return 'resource.Quantity'
    case 'int-or-string':
      return 'int32'
    case 'time':
    case 'microtime':
      return 'string'
    case 'string':
      return (
        BY_STRUCT_FIELD[`${struct}.${name}`] ??
        (isMetaStruct(struct, name) ? 'string' : (BY_FIELD[name] ?? 'string'))
      )
    default:
      return field.type
  }
}

/** Strings of meta types keep their plain type where a field's name means something else elsewhere. */
function isMetaStruct(struct: string, name: string): boolean {
  return struct === '' || (struct.startsWith('meta-v1.') && name !== 'uid')
}
