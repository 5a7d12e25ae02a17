/** The filters that look at volumes, in the order in which kube-scheduler asks. Contract: docs/behaviour/simulation/scheduler.md, Filters. Pure. */
import type { CSINode, Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import type { NamedFilter } from '../filters/index.ts'
import type { NodeFilter } from '../filters/node-filter.ts'
import type { NodeInfo } from '../node-info.ts'
import type { Snapshot } from '../snapshot.ts'
import { claimsOf, classOf } from './claims.ts'
import type { VolumeListers } from './claims.ts'
import { volumeBindingFilter } from './volume-plan.ts'

const NONE: readonly string[] = []
const IN_USE =
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'
const TOO_MANY = 'node(s) exceed max volume count'
const NO_ZONE = 'node(s) had no available volume zone'

export function volumeFilters(listers: VolumeListers): readonly NamedFilter[] {
  return [
    {
      name: 'VolumeRestrictions',
      filter: (pod, snapshot) => volumeRestrictions(pod, snapshot, listers),
      curable: true,
    },
    { name: 'NodeVolumeLimits', filter: (pod) => volumeLimits(pod, listers), curable: true },
    { name: 'VolumeBinding', filter: (pod) => volumeBindingFilter(pod, listers), curable: false },
    { name: 'VolumeZone', filter: (pod) => volumeZone(pod, listers), curable: false },
  ]
}

/** A claim for one pod alone is of no use to a second one, wherever it goes. */
function volumeRestrictions(
  pod: Pod,
  { nodes }: Snapshot,
  listers: VolumeListers,
): NodeFilter | undefined {
  const exclusive = claimsOf(pod, listers).flatMap(({ name, claim }) =>
    claim?.spec?.accessModes?.includes('ReadWriteOncePod') === true ? [name] : [],
  )
  if (exclusive.length === 0) return undefined
  const isTaken = nodes.some(({ pods }) => {
    for (const other of pods.values())
      if (
        other.metadata?.uid !== pod.metadata?.uid &&
        other.metadata?.namespace === pod.metadata?.namespace &&
        claimsOf(other, listers).some(({ name }) => exclusive.includes(name))
      )
        return true
    return false
  })
  return isTaken ? () => [IN_USE] : undefined
}

function volumeLimits(pod: Pod, listers: VolumeListers): NodeFilter | undefined {
  const wanted = driverVolumes(pod, listers)
  if (wanted.size === 0) return undefined
  return (info) => {
    const limits = limitsOf(listers.csiNodes.get(undefined, info.name))
    if (limits.size === 0) return NONE
    const present = volumesOn(info, listers)
    const fresh = new Map([...wanted].filter(([volume]) => !present.has(volume)))
    for (const [driver, limit] of limits) {
      const added = countOf(fresh, driver)
      if (added > 0 && countOf(present, driver) + added > limit) return [TOO_MANY]
    }
    return NONE
  }
}

/** Volumes with their drivers. One that is still to be made is known by its claim. */
type DriverVolumes = ReadonlyMap<string, string>

function driverVolumes(pod: Pod, listers: VolumeListers): DriverVolumes {
  const found = new Map<string, string>()
  for (const { claim } of claimsOf(pod, listers)) {
    const own = claim === undefined ? undefined : driverVolume(claim, listers)
    if (own !== undefined) found.set(own.volume, own.driver)
  }
  return found
}

function driverVolume(
  claim: PersistentVolumeClaim,
  listers: VolumeListers,
): { readonly volume: string; readonly driver: string } | undefined {
  const { namespace, name } = claim.metadata ?? {}
  if (claim.spec?.volumeName) {
    const csi = listers.volumes.get(undefined, claim.spec.volumeName)?.spec?.csi
    if (csi === undefined) return undefined
    return { volume: `${csi.driver}/${csi.volumeHandle}`, driver: csi.driver }
  }
  const driver = classOf(claim, listers)?.provisioner
  if (driver === undefined) return undefined
  return { volume: `${driver}/claim ${namespace}/${name}`, driver }
}

/** Those of its pods, and those that are attached without one. */
function volumesOn({ name, pods }: NodeInfo, listers: VolumeListers): DriverVolumes {
  const found = new Map<string, string>()
  for (const pod of pods.values())
    for (const [volume, driver] of driverVolumes(pod, listers)) found.set(volume, driver)
  for (const { spec } of listers.attachmentsTo(name)) {
    const volume = listers.volumes.get(undefined, spec?.source?.persistentVolumeName ?? '')
    const csi = volume?.spec?.csi
    if (csi !== undefined) found.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver)
  }
  return found
}

function limitsOf(csiNode: CSINode | undefined): ReadonlyMap<string, number> {
  const limits = new Map<string, number>()
  for (const { name, allocatable } of csiNode?.spec?.drivers ?? [])
    if (allocatable?.count !== undefined) limits.set(name, allocatable.count)
  return limits
}

function countOf(volumes: DriverVolumes, driver: string): number {
  let count = 0
  for (const other of volumes.values()) if (other === driver) count++
  return count
}

const ZONES = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'] as const
/** Older names of the same labels. */
const BETA_ZONES: Readonly<Record<string, string>> = {
  'topology.kubernetes.io/zone': 'failure-domain.beta.kubernetes.io/zone',
  'topology.kubernetes.io/region': 'failure-domain.beta.kubernetes.io/region',
}

function volumeZone(pod: Pod, listers: VolumeListers): NodeFilter | undefined {
  const places = claimsOf(pod, listers).flatMap(({ claim }) => {
    const volume = listers.volumes.get(undefined, claim?.spec?.volumeName ?? '')
    return volume === undefined ? [] : zonesOf(volume)
  })
  if (places.length === 0) return undefined
  return ({ node }) => {
    const isNowhere = ZONES.every((key) => labelOf(node!, key) === undefined)
    if (isNowhere) return NONE
    const isThere = places.every(({ key, values }) => values.has(labelOf(node!, key) ?? ''))
    return isThere ? NONE : [NO_ZONE]
  }
}

function zonesOf({ metadata }: PersistentVolume): readonly {
  readonly key: string
  readonly values: ReadonlySet<string>
}[] {
  const { labels } = metadata ?? {}
  return ZONES.flatMap((key) => {
    const text = labels?.[key] ?? labels?.[BETA_ZONES[key]!]
    return text === undefined ? [] : [{ key, values: new Set(text.split('__')) }]
  })
}

function labelOf({ metadata }: Node, key: string): string | undefined {
  return metadata?.labels?.[key] ?? metadata?.labels?.[BETA_ZONES[key]!]
}
