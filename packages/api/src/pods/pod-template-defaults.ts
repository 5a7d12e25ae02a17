/**
 * What the server fills into a pod template. Controllers ask for it where they compare a template with one that an older release
 * has stored. Drafts are edited in place. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Pod defaults".
 */

/** An object that is still being made. */
// oxlint-disable-next-line no-explicit-any -- as in the server: whoever asks has checked the shapes
type Draft = Record<string, any>

/** Metadata and spec of a pod template. */
export function defaultTemplate(template: Draft | undefined): void {
  if (template?.spec) defaultTemplateSpec(template.spec)
}

/** The spec of a template; that of a pod has some more defaults. */
export function defaultTemplateSpec(spec: Draft): void {
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.restartPolicy ||= 'Always'
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= 30
  spec.schedulerName ||= 'default-scheduler'
  if (spec.serviceAccountName || spec.serviceAccount) {
    spec.serviceAccountName ||= spec.serviceAccount
    spec.serviceAccount = spec.serviceAccountName
  }
  for (const list of ['containers', 'initContainers', 'ephemeralContainers']) {
    for (const container of spec[list] ?? []) defaultContainer(container)
  }
  for (const volume of spec.volumes ?? []) defaultVolume(volume)
}

function defaultContainer(container: Draft): void {
  container.imagePullPolicy ||= pullPolicyOf(container.image ?? '')
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
  container.resources ??= {}
  for (const port of container.ports ?? []) port.protocol ||= 'TCP'
  for (const variable of container.env ?? []) defaultReferences(variable.valueFrom)
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'])
    if (container[name]) defaultProbe(container[name])
  for (const hook of ['postStart', 'preStop']) defaultHttpGet(container.lifecycle?.[hook]?.httpGet)
}

const DOMAIN =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[0-9a-fA-F:]+\\])(?::[0-9]+)?'
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const REFERENCE = new RegExp(
  `^((?:${DOMAIN}/)?${COMPONENT}(?:/${COMPONENT})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
)
const PATH_LIMIT = 255
/** Of an image in a runtime: no name. */
const IMAGE_ID = /^[0-9a-f]{64}$/

/** `x` and `x:latest` are pulled always; other tags, digests and what is no image reference, when absent. */
export function pullPolicyOf(image: string): string {
  const match = IMAGE_ID.test(image) ? null : REFERENCE.exec(image)
  if (match === null) return 'IfNotPresent'
  const [, name = '', tag, digest] = match
  if (repositoryPath(name).length > PATH_LIMIT) return 'IfNotPresent'
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent'
}

/** Without the registry. On Docker's own, one word is the name of something in its library. */
function repositoryPath(name: string): string {
  const [first = '', ...rest] = name.split('/')
  const isRegistry = rest.length > 0 && (/[.:A-Z]/.test(first) || first === 'localhost')
  const path = isRegistry ? rest.join('/') : name
  const isDocker = !isRegistry || first === 'docker.io' || first === 'index.docker.io'
  return isDocker && !path.includes('/') ? `library/${path}` : path
}

function defaultProbe(probe: Draft): void {
  probe.timeoutSeconds ||= 1
  probe.periodSeconds ||= 10
  probe.successThreshold ||= 1
  probe.failureThreshold ||= 3
  defaultHttpGet(probe.httpGet)
  if (probe.grpc) probe.grpc.service ??= ''
}

function defaultHttpGet(action: Draft | undefined): void {
  if (!action) return
  action.path ||= '/'
  action.scheme ||= 'HTTP'
}

const DEFAULT_MODE = 420

/** A volume with nothing but a name is an emptyDir. */
function defaultVolume(volume: Draft): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {}
  if (volume.secret) volume.secret.defaultMode ??= DEFAULT_MODE
  if (volume.configMap) volume.configMap.defaultMode ??= DEFAULT_MODE
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= DEFAULT_MODE
    volume.downwardAPI.items?.forEach(defaultReferences)
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= DEFAULT_MODE
    // They are always written, and the store does not tell an empty list from none.
    if (!volume.projected.sources?.length) volume.projected.sources = null
    for (const source of volume.projected.sources ?? []) {
      source.downwardAPI?.items?.forEach(defaultReferences)
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600
      if (source.podCertificate) source.podCertificate.maxExpirationSeconds ??= 86400
    }
  }
  if (volume.ephemeral?.volumeClaimTemplate?.spec)
    volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= 'Filesystem'
  if (volume.image) volume.image.pullPolicy ||= pullPolicyOf(volume.image.reference ?? '')
  defaultNetworkVolume(volume)
}

/** A divisor is written even where none was given. */
function defaultReferences(source: Draft | undefined): void {
  if (source?.fieldRef) source.fieldRef.apiVersion ||= 'v1'
  if (source?.resourceFieldRef) source.resourceFieldRef.divisor ??= '0'
}

/** The sources that persistent volumes share with pods. */
export function defaultNetworkVolume(volume: Draft): void {
  if (volume.iscsi) volume.iscsi.iscsiInterface ||= 'default'
  if (volume.rbd) {
    volume.rbd.pool ||= 'rbd'
    volume.rbd.user ||= 'admin'
    volume.rbd.keyring ||= '/etc/ceph/keyring'
  }
  if (volume.azureDisk) {
    volume.azureDisk.cachingMode ??= 'ReadWrite'
    volume.azureDisk.kind ??= 'Shared'
    volume.azureDisk.fsType ??= 'ext4'
    volume.azureDisk.readOnly ??= false
  }
  if (volume.scaleIO) {
    volume.scaleIO.storageMode ||= 'ThinProvisioned'
    volume.scaleIO.fsType ||= 'xfs'
  }
}
