/** Whom a container runs as: what its pod and it ask for, and what is known of its image. Contract: docs/behaviour/simulation/kubelet.md, Commands. Pure. */
import type { Container, Pod } from '@gyropilot/api'
import { isAgnhost } from '../behavior/image-program.ts'

interface ContainerUser {
  readonly uid: number
  readonly gid: number
  /** All of them, with `gid`, in the order of their numbers. */
  readonly groups: readonly number[]
}

/** What the image agnhost has in its /etc/group, by user. */
const AGNHOST_GROUPS: Readonly<Record<number, readonly number[]>> = { 1000: [50_000] }

export function userOf({ spec }: Pod, container: Container): ContainerUser {
  const own = { ...spec?.securityContext, ...container.securityContext }
  const { runAsUser: uid = 0, runAsGroup: gid = 0 } = own
  const { fsGroup, supplementalGroups = [], supplementalGroupsPolicy } = spec?.securityContext ?? {}
  const ofImage =
    supplementalGroupsPolicy !== 'Strict' && isAgnhost(container) ? AGNHOST_GROUPS[uid] : undefined
  const groups = new Set([
    gid,
    ...(fsGroup === undefined ? [] : [fsGroup]),
    ...supplementalGroups,
    ...(ofImage ?? []),
  ])
  return { uid, gid, groups: [...groups].sort((a, b) => a - b) }
}

/** Whether anybody said who it is: of images alone too little is known to tell. */
export function isUserKnown({ spec }: Pod, { securityContext }: Container): boolean {
  const { runAsUser, runAsGroup } = { ...spec?.securityContext, ...securityContext }
  const { fsGroup, supplementalGroups } = spec?.securityContext ?? {}
  return [runAsUser, runAsGroup, fsGroup, supplementalGroups].some((each) => each !== undefined)
}
