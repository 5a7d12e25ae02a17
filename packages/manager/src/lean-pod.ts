import type { Container, Pod, Volume } from '@gyropilot/api'
import { controllerOf } from '@gyropilot/api'

const TOKEN_VOLUME = /^kube-api-access-[a-z0-9]{5}$/
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * The pod without the volume of its service account token and the places where that is mounted. Admission gives each pod one
 * with a name of its own, in its volumes and in every container, so that no container of one pod equals one of another: a fifth of
 * what a cached pod costs, and nothing a control loop reads. Pods that are as lean already, and those that may be written
 * back as a whole, which is those of StatefulSets and those that any controller can still adopt, are returned as they are.
 */
export function leanPod(pod: Pod): Pod {
  const { spec } = pod
  const owner = controllerOf(pod)
  if (spec?.volumes === undefined || owner === undefined || owner.kind === 'StatefulSet') return pod
  const token = spec.volumes.find(isTokenVolume)
  if (token === undefined) return pod
  const { containers, initContainers } = spec
  return {
    ...pod,
    spec: {
      ...spec,
      volumes: spec.volumes.filter((volume) => volume !== token),
      containers: containers.map((container) => withoutMount(container, token.name)),
      ...(initContainers === undefined
        ? {}
        : {
            initContainers: initContainers.map((container) => withoutMount(container, token.name)),
          }),
    },
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
