/** Statuses of containers from what a node knows. Contract: docs/behaviour/simulation/kubelet.md, Container statuses. Pure. */
import type { ContainerStatus, Pod, PodStatus } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { resolvedImage } from '../behavior/image.ts'
import { isUserKnown, userOf } from '../container/container-user.ts'
import type { LocalContainer, LocalPod } from '../running/local-pod.ts'

/** Of all containers of a pod together: each has an equal part of it. */
const MOST_MESSAGES_BYTES = 12_288

export function containerStatusesOf(
  pod: Pod,
  local: LocalPod,
): Pick<PodStatus, 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses'> {
  if (local.failure !== undefined && local.containers.every((c) => c.containerId === undefined)) {
    return {}
  }
  const messageBytes = Math.floor(MOST_MESSAGES_BYTES / containerCount(pod))
  const statusOf = (container: LocalContainer) => containerStatusOf(pod, container, messageBytes)
  const init = local.containers.filter((container) => container.role !== 'main')
  const main = local.containers
    .filter((container) => container.role === 'main')
    .sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1))
  return {
    ...(init.length === 0 ? {} : { initContainerStatuses: init.map(statusOf) }),
    containerStatuses: main.map(statusOf),
    ...(local.ephemeral.length === 0
      ? {}
      : { ephemeralContainerStatuses: local.ephemeral.map(statusOf) }),
  }
}

function containerCount({ spec }: Pod): number {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {}
  return Math.max(1, containers.length + initContainers.length + ephemeralContainers.length)
}

function containerStatusOf(
  pod: Pod,
  container: LocalContainer,
  messageBytes: number,
): ContainerStatus {
  const { spec, state, last } = container
  const done = container.role === 'init' && state.state === 'terminated' && state.exitCode === 0
  const mounts = spec.volumeMounts ?? []
  return {
    name: spec.name,
    image:
      container.containerId === undefined ? (spec.image ?? '') : resolvedImage(spec.image ?? ''),
    imageID: container.imageId,
    ...(container.containerId === undefined ? {} : { containerID: container.containerId }),
    ready: done || (container.ready && container.role !== 'ephemeral'),
    started: container.started && container.role !== 'ephemeral',
    restartCount: container.restarts,
    state: wireState(state, messageBytes),
    lastState: last === undefined ? {} : { terminated: wireTerminated(last, messageBytes) },
    ...resourcesOf(container),
    ...(mounts.length === 0
      ? {}
      : {
          volumeMounts: mounts.map(({ name, mountPath, readOnly }) => ({
            name,
            mountPath,
            ...(readOnly ? { readOnly, recursiveReadOnly: 'Disabled' } : {}),
          })),
        }),
    ...userStatusOf(pod, container),
  }
}

/** None before the first start. */
function userStatusOf(
  pod: Pod,
  { containerId, spec }: LocalContainer,
): Pick<ContainerStatus, 'user'> {
  if (containerId === undefined || !isUserKnown(pod, spec)) return {}
  const { uid, gid, groups } = userOf(pod, spec)
  return { user: { linux: { gid, supplementalGroups: groups, uid } } }
}

/** None before the first start, and of containers that only debug: nobody resizes them. */
function resourcesOf({
  role,
  containerId,
  resources,
  spec,
  state,
}: LocalContainer): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  if (role === 'ephemeral' || containerId === undefined) return {}
  const { requests } = spec.resources ?? {}
  return {
    resources: (state.state === 'running' ? resources : spec.resources) ?? {},
    ...(requests === undefined ? {} : { allocatedResources: requests }),
  }
}

function wireState(
  state: LocalContainer['state'],
  messageBytes: number,
): NonNullable<ContainerStatus['state']> {
  switch (state.state) {
    case 'waiting':
      return {
        waiting: { reason: state.reason, ...(state.message ? { message: state.message } : {}) },
      }
    case 'running':
      return { running: { startedAt: formatTime(state.startedAtMs) } }
    case 'terminated':
      return { terminated: wireTerminated(state, messageBytes) }
  }
}

function wireTerminated(end: NonNullable<LocalContainer['last']>, messageBytes: number) {
  return {
    exitCode: end.exitCode,
    reason: end.reason,
    ...(end.message ? { message: beginning(end.message, messageBytes) } : {}),
    ...(end.startedAtMs === 0 ? {} : { startedAt: formatTime(end.startedAtMs) }),
    ...(end.finishedAtMs === 0 ? {} : { finishedAt: formatTime(end.finishedAtMs) }),
    ...(end.containerId === '' ? {} : { containerID: end.containerId }),
  }
}

function beginning(text: string, bytes: number): string {
  // No character takes more bytes than that.
  return text.length * 3 <= bytes ? text : Buffer.from(text).subarray(0, bytes).toString()
}
