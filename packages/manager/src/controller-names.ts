/**
 * The names of kube-controller-manager 1.36, treated as identifiers: flags, logs, health checks, migration files. The list is
 * the same whatever gates are set and whatever is built here. Contract: docs/behaviour/runtime/manager.md, Controllers.
 */

export interface KnownController {
  readonly name: string
  readonly alias?: string
  /** False: needs an explicit item in --controllers. */
  readonly enabledByDefault: boolean
  /** Registered, and never run by this binary. */
  readonly cloud?: boolean
  /** Runs whatever --controllers says, before all others. */
  readonly always?: boolean
}

const on = (name: string, alias?: string): KnownController =>
  alias === undefined ? { name, enabledByDefault: true } : { name, alias, enabledByDefault: true }
const off = (name: string, alias?: string): KnownController => ({
  ...on(name, alias),
  enabledByDefault: false,
})
const cloud = (name: string, alias: string): KnownController => ({
  ...on(name, alias),
  cloud: true,
})

export const TOKEN_CONTROLLER = 'serviceaccount-token-controller'

export const knownControllers: readonly KnownController[] = [
  { ...on(TOKEN_CONTROLLER, 'serviceaccount-token'), always: true },
  on('endpoints-controller', 'endpoint'),
  on('endpointslice-controller', 'endpointslice'),
  on('endpointslice-mirroring-controller', 'endpointslicemirroring'),
  on('replicationcontroller-controller', 'replicationcontroller'),
  on('pod-garbage-collector-controller', 'podgc'),
  on('resourcequota-controller', 'resourcequota'),
  on('namespace-controller', 'namespace'),
  on('serviceaccount-controller', 'serviceaccount'),
  on('garbage-collector-controller', 'garbagecollector'),
  on('daemonset-controller', 'daemonset'),
  on('job-controller', 'job'),
  on('podgroup-protection-controller'),
  on('deployment-controller', 'deployment'),
  on('replicaset-controller', 'replicaset'),
  on('horizontal-pod-autoscaler-controller', 'horizontalpodautoscaling'),
  on('disruption-controller', 'disruption'),
  on('statefulset-controller', 'statefulset'),
  on('cronjob-controller', 'cronjob'),
  on('certificatesigningrequest-signing-controller', 'csrsigning'),
  on('certificatesigningrequest-approving-controller', 'csrapproving'),
  on('certificatesigningrequest-cleaner-controller', 'csrcleaner'),
  on('podcertificaterequest-cleaner-controller'),
  on('ttl-controller', 'ttl'),
  off('bootstrap-signer-controller', 'bootstrapsigner'),
  off('token-cleaner-controller', 'tokencleaner'),
  on('node-ipam-controller', 'nodeipam'),
  on('node-lifecycle-controller', 'nodelifecycle'),
  on('taint-eviction-controller'),
  cloud('service-lb-controller', 'service'),
  cloud('node-route-controller', 'route'),
  cloud('cloud-node-lifecycle-controller', 'cloud-node-lifecycle'),
  on('persistentvolume-binder-controller', 'persistentvolume-binder'),
  on('persistentvolume-attach-detach-controller', 'attachdetach'),
  on('persistentvolume-expander-controller', 'persistentvolume-expander'),
  on('clusterrole-aggregation-controller', 'clusterrole-aggregation'),
  on('persistentvolumeclaim-protection-controller', 'pvc-protection'),
  on('persistentvolume-protection-controller', 'pv-protection'),
  on('volumeattributesclass-protection-controller'),
  on('ttl-after-finished-controller', 'ttl-after-finished'),
  on('root-ca-certificate-publisher-controller', 'root-ca-cert-publisher'),
  on('kube-apiserver-serving-clustertrustbundle-publisher-controller'),
  on('ephemeral-volume-controller', 'ephemeral-volume'),
  on('storageversion-garbage-collector-controller', 'storage-version-gc'),
  on('resourceclaim-controller', 'resource-claim-controller'),
  on('resourcepoolstatusrequest-controller'),
  on('device-taint-eviction-controller'),
  on('legacy-serviceaccount-token-cleaner-controller', 'legacy-service-account-token-cleaner'),
  on('validatingadmissionpolicy-status-controller'),
  on('service-cidr-controller'),
  on('storage-version-migrator-controller', 'svm'),
  off('selinux-warning-controller'),
]

/** Aliases replaced by canonical names, a leading `-` kept. `known` are the program's. */
export function canonicalItems(
  items: readonly string[],
  known: readonly KnownController[] = knownControllers,
): readonly string[] {
  return items.map((item) => {
    const minus = item.startsWith('-') ? '-' : ''
    const written = item.slice(minus.length)
    return minus + (known.find(({ alias }) => alias === written)?.name ?? written)
  })
}

/** What items name that is no controller. */
export function unknownNames(
  items: readonly string[],
  known: readonly KnownController[] = knownControllers,
): readonly string[] {
  const names = new Set(known.map(({ name }) => name))
  return canonicalItems(items, known)
    .filter((item) => item !== '*')
    .map((item) => item.replace(/^-/, ''))
    .filter((name) => !names.has(name))
}

/** One message for each item that names no controller. */
export function unknownItems(
  items: readonly string[],
  known: readonly KnownController[] = knownControllers,
): readonly string[] {
  return unknownNames(items, known).map(
    (name) => `${JSON.stringify(name)} is not in the list of known controllers`,
  )
}

/** Whether --controllers turns a controller on: the first item that names it wins, then `*` and its default. */
export function isControllerEnabled(
  controller: KnownController,
  items: readonly string[],
): boolean {
  if (controller.always) return true
  for (const item of canonicalItems(items, [controller])) {
    if (item === controller.name) return true
    if (item === `-${controller.name}`) return false
  }
  return items.includes('*') && controller.enabledByDefault
}
