import type { Container, ContainerStatus, ObjectMeta, Pod, PodStatus, Volume } from '@gyropilot/api'
import { controllerOf } from '@gyropilot/api'
import type { SpecText } from '@gyropilot/runtime'

const TOKEN_VOLUME = /^kube-api-access-[a-z0-9]{5}$/
/** As admission writes it. */
const NAME_OF_TOKEN_VOLUME =
  /"kube-api-access-[a-z0-9]{5}"(?=,"projected":\{"sources":\[\{"serviceAccountToken":)/
const SERVICE_ACCOUNT = '"serviceAccount":"'
/** As servers write it, behind the account: keys of maps are sorted, so that none called so stands behind one called `serviceAccount`. */
const NODE_NAME =
  /"serviceAccount":"[^"\\]*",(?:"automountServiceAccountToken":(?:true|false),)?"nodeName":"([^"\\]+)"/y
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * The pod without what each has of its own that no control loop reads: the volume of its service account token, which admission names
 * anew for each pod, in its volumes and in every container; the IDs of its containers, and since when they run. So the containers of
 * one template are equal parts, and so are their statuses. Pods that are as lean already, and those that may be written back as a
 * whole, which is those of StatefulSets and those that any controller can still adopt, are returned as they are. Of statuses controllers
 * write what they change and no more.
 */
export function leanPod(pod: Pod): Pod {
  if (!isTrimmed(pod)) return pod
  const spec = leanSpec(pod.spec)
  const status = leanStatus(pod.status)
  return spec === pod.spec && status === pod.status ? pod : { ...pod, spec, status }
}

function isTrimmed(pod: { readonly metadata?: ObjectMeta }): boolean {
  const owner = controllerOf(pod)
  return owner !== undefined && owner.kind !== 'StatefulSet'
}

/**
 * By which the specs that `leanPod` makes equal are known: with one name for the volume of the token, which stands nowhere but in what is
 * taken off, and without the name of the node. Undefined: of a pod that is not trimmed.
 */
export function leanSpecText(metadata: ObjectMeta, written: string): SpecText | undefined {
  if (!isTrimmed({ metadata })) return undefined
  const volume = NAME_OF_TOKEN_VOLUME.exec(written)?.[0]
  const text = volume === undefined ? written : written.replaceAll(volume, '""')
  const at = text.indexOf(SERVICE_ACCOUNT)
  NODE_NAME.lastIndex = at
  const node = at === -1 ? null : NODE_NAME.exec(text)
  if (node === null) return { text }
  const [found, nodeName] = node
  const end = node.index + found.length
  return {
    text: `${text.slice(0, end - nodeName!.length - 1)}${text.slice(end - 1)}`,
    // Cut out, it would keep all of the text.
    own: JSON.parse(`{"nodeName":"${nodeName}"}`),
  }
}

function leanSpec(spec: Pod['spec']): Pod['spec'] {
  const token = spec?.volumes?.find(isTokenVolume)
  if (spec?.volumes === undefined || token === undefined) return spec
  const { containers, initContainers } = spec
  return {
    ...spec,
    volumes: spec.volumes.filter((volume) => volume !== token),
    containers: containers.map((container) => withoutMount(container, token.name)),
    ...(initContainers === undefined
      ? {}
      : { initContainers: initContainers.map((container) => withoutMount(container, token.name)) }),
  }
}

function isTokenVolume({ name, projected }: Volume): boolean {
  if (!TOKEN_VOLUME.test(name)) return false
  return projected?.sources?.some((source) => source.serviceAccountToken !== undefined) ?? false
}

function withoutMount(container: Container, volume: string): Container {
  const { volumeMounts } = container
  if (volumeMounts === undefined) return container
  const others = volumeMounts.filter(
    ({ name, mountPath }) => name !== volume || mountPath !== TOKEN_PATH,
  )
  return { ...container, volumeMounts: others }
}

function leanStatus(status: PodStatus | undefined): PodStatus | undefined {
  const containerStatuses = leanRuns(status?.containerStatuses)
  const initContainerStatuses = leanRuns(status?.initContainerStatuses)
  const isLean =
    containerStatuses === status?.containerStatuses &&
    initContainerStatuses === status?.initContainerStatuses
  if (isLean) return status
  return {
    ...status,
    ...(containerStatuses && { containerStatuses }),
    ...(initContainerStatuses && { initContainerStatuses }),
  }
}

function leanRuns(statuses: readonly ContainerStatus[] | undefined) {
  return statuses?.some(hasOwn) ? statuses.map(withoutOwn) : statuses
}

function hasOwn({ containerID, state }: ContainerStatus): boolean {
  return containerID !== undefined || state?.running?.startedAt !== undefined
}

function withoutOwn(status: ContainerStatus): ContainerStatus {
  const { containerID: _, ...lean } = status
  const { state } = lean
  return state?.running === undefined ? lean : { ...lean, state: { ...state, running: {} } }
}
