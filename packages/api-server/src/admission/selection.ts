/** Which admission plug-ins run, by kube-apiserver's names. */

/** As of --enable-admission-plugins and --disable-admission-plugins. */
export interface AdmissionSelection {
  /** Beyond those that are on by default. */
  readonly enabled?: readonly string[]
  readonly disabled?: readonly string[]
}

/** On by default upstream and built here. */
export const DEFAULT_ADMISSION_PLUGINS: readonly string[] = [
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'TaintNodesByCondition',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PodGroupProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'PodTopologyLabels',
  'PodGroupWorkloadExists',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
]

/** Off by default upstream and built here. */
export const OPTIONAL_ADMISSION_PLUGINS: readonly string[] = ['NodeRestriction']

/** On by default upstream, for kinds or gates that are not served here by default: there is nothing for them to do. */
const WITHOUT_WORK: readonly string[] = ['NodeDeclaredFeatureValidator', 'JobValidation']

/** Off by default upstream and not built here. */
const NOT_BUILT: readonly string[] = [
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'DenyServiceExternalIPs',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector',
  'PodTolerationRestriction',
]

const KNOWN: ReadonlySet<string> = new Set([
  ...DEFAULT_ADMISSION_PLUGINS,
  ...OPTIONAL_ADMISSION_PLUGINS,
  ...WITHOUT_WORK,
  ...NOT_BUILT,
])

/** What is wrong with a selection, in kube-apiserver's words where it would refuse too. */
export function selectionProblem({
  enabled = [],
  disabled = [],
}: AdmissionSelection): string | undefined {
  const both = enabled.filter((name) => disabled.includes(name))
  if (both.length > 0)
    return `[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`
  const unknownOf = (names: readonly string[]) => names.find((name) => !KNOWN.has(name))
  const unknownEnabled = unknownOf(enabled)
  if (unknownEnabled !== undefined)
    return `enable-admission-plugins plugin ${JSON.stringify(unknownEnabled)} is unknown`
  const unknownDisabled = unknownOf(disabled)
  if (unknownDisabled !== undefined)
    return `disable-admission-plugins plugin ${JSON.stringify(unknownDisabled)} is unknown`
  const missing = enabled.filter((name) => NOT_BUILT.includes(name))
  if (missing.length > 0)
    return `enable-admission-plugins: ${missing.join(', ')} is not built in this server: leave it out`
  return undefined
}

export function isSelected(name: string, { enabled = [], disabled = [] }: AdmissionSelection) {
  if (disabled.includes(name)) return false
  return !OPTIONAL_ADMISSION_PLUGINS.includes(name) || enabled.includes(name)
}
