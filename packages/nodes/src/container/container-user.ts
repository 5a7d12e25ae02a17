/** Whom a container runs as: what its pod and it ask for, and what is known of its image. Contract: docs/behaviour/simulation/kubelet.md, Commands. Pure. */
import type { Container, Pod } from '@gyropilot/api'
import { imageUser } from '../behavior/image-facts.ts'
import { isAgnhost } from '../behavior/image-program.ts'

interface ContainerUser {
  readonly uid: number
  readonly gid: number
  /** All of them, with `gid`, in the order of their numbers. */
  readonly groups: readonly number[]
}

/** Its own group and others, of a user that the files of an image name. */
interface ImageUser {
  readonly gid: number
  readonly groups: readonly number[]
}

const AGNHOST_USERS: Readonly<Record<number, ImageUser>> = { 1000: { gid: 1000, groups: [50_000] } }

export function userOf({ spec }: Pod, container: Container): ContainerUser {
  const own = { ...spec?.securityContext, ...container.securityContext }
  const { runAsUser: uid = imageUser(container.image) ?? 0 } = own
  const ofImage = isAgnhost(container) ? AGNHOST_USERS[uid] : undefined
  const { runAsGroup: gid = ofImage?.gid ?? 0 } = own
  const { fsGroup, supplementalGroups = [], supplementalGroupsPolicy } = spec?.securityContext ?? {}
  const groups = new Set([
    gid,
    ...(fsGroup === undefined ? [] : [fsGroup]),
    ...supplementalGroups,
    ...(supplementalGroupsPolicy === 'Strict' ? [] : (ofImage?.groups ?? [])),
  ])
  return { uid, gid, groups: [...groups].sort((a, b) => a - b) }
}

/** Whether anybody said who it is: of images alone too little is known to tell. */
export function isUserKnown({ spec }: Pod, { securityContext }: Container): boolean {
  const { runAsUser, runAsGroup } = { ...spec?.securityContext, ...securityContext }
  const { fsGroup, supplementalGroups } = spec?.securityContext ?? {}
  return [runAsUser, runAsGroup, fsGroup, supplementalGroups].some((each) => each !== undefined)
}
