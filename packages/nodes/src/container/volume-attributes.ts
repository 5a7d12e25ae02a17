/** Whose the files of a volume are, what may be done with them, and the type of file system they are in: as a kubelet sets them. */
import { parseQuantity } from '@gyropilot/api'
import type { Pod, Quantity, Volume } from '@gyropilot/api'
import type { Attributes } from '../files/file-store.ts'

/** Of files from config maps, secrets and fields, where neither the volume nor the item says another. */
export const USUAL_MODE = 0o644
const TOKEN_MODE = 0o600
const EMPTY_DIR_MODE = 0o1777
const SET_GROUP_ID = 0o2000
/** What the group of the pod may do with read-only files, and with folders that may be written. */
const GROUP_READS = 0o440
const GROUP_WRITES = 0o770
/** Folders of a node that everybody may write to. */
const SHARED_FOLDERS: ReadonlySet<string> = new Set(['/tmp', '/var/tmp'])

/** Of a file that the kubelet writes. */
export function givenFile(pod: Pod, mode: number): Attributes {
  const gid = groupOf(pod)
  return gid === undefined ? { mode } : { mode: mode | GROUP_READS, gid }
}

/** A token is its user's alone, where it is known who that is, or that there is a group. */
export function tokenFile(pod: Pod, mode: number): Attributes {
  const uid = onlyUser(pod)
  const isOwn = uid !== undefined || groupOf(pod) !== undefined
  return { ...givenFile(pod, isOwn ? TOKEN_MODE : mode), uid }
}

/** Of the folder that a volume is, which containers may write to. */
export function volumeFolder(pod: Pod, volume: Volume): Attributes {
  const gid = groupOf(pod)
  const { emptyDir, hostPath, persistentVolumeClaim, ephemeral } = volume
  if (hostPath) return SHARED_FOLDERS.has(hostPath.path) ? { mode: 0o1777 } : {}
  const mode = emptyDir ? EMPTY_DIR_MODE : 0o755
  const isGroups = emptyDir ?? persistentVolumeClaim ?? ephemeral
  if (gid === undefined || isGroups === undefined) return emptyDir ? { mode } : {}
  return { mode: mode | GROUP_WRITES | SET_GROUP_ID, gid }
}

/** What is in memory, and what is on the disk of the node or behind a claim. */
export function fileSystemOf({ emptyDir, secret, projected, downwardAPI }: Volume): string {
  return emptyDir?.medium === 'Memory' || secret || projected || downwardAPI ? 'tmpfs' : 'ext4'
}

/** Of one in memory: its own limit, or that of the memory of the pod. Others are as large as their disk. */
export function sizeOf({ spec }: Pod, { emptyDir }: Volume): number | undefined {
  if (emptyDir?.medium !== 'Memory') return undefined
  const limits = (spec?.containers ?? []).map(({ resources }) => resources?.limits?.['memory'])
  const known = limits.filter((limit) => limit !== undefined).map(bytesOf)
  const isBounded = known.length > 0 && known.length === limits.length
  const sizes = [
    ...(emptyDir.sizeLimit === undefined ? [] : [bytesOf(emptyDir.sizeLimit)]),
    ...(isBounded ? [known.reduce((sum, each) => sum + each, 0)] : []),
  ]
  return sizes.length === 0 ? undefined : Math.min(...sizes)
}

function bytesOf(quantity: Quantity): number {
  return parseQuantity(quantity).toNumber()
}

function groupOf({ spec }: Pod): number | undefined {
  return spec?.securityContext?.fsGroup
}

/** The one that all containers run as. */
function onlyUser({ spec }: Pod): number | undefined {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  const users = new Set(
    containers.map(
      ({ securityContext }) => securityContext?.runAsUser ?? spec?.securityContext?.runAsUser,
    ),
  )
  return users.size === 1 ? [...users][0] : undefined
}
