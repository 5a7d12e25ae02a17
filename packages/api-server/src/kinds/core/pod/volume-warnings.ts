/** Warnings about the volumes of pods and templates. Contract: defaulting-and-validation.md, "Warnings on create and update". */
import type { PodSpec, Volume, VolumeProjection } from '@gyropilot/api'
import { goQuote } from '@gyropilot/schema/go-quote'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import { claimSpecWarnings } from '../persistent-volume-claim-spec.ts'

/** What is said of a source of a volume that nothing serves any more. */
const DEPRECATED_VOLUMES: Partial<Readonly<Record<keyof Volume, string>>> = {
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
}

/** At the place in the object. One name is not spelled as the field is. */
export function deprecatedVolumeWarning(source: keyof Volume, at: string): string {
  return `${at}.${source === 'storageos' ? 'storageOS' : source}: ${DEPRECATED_VOLUMES[source]}`
}

export function volumeWarnings({ volumes = [] }: StoredOf<PodSpec>, field: string): string[] {
  const warnings: string[] = []
  for (const [index, volume] of volumes.entries()) {
    for (const source of Object.keys(DEPRECATED_VOLUMES) as (keyof Volume)[])
      if (volume[source])
        warnings.push(deprecatedVolumeWarning(source, `${field}.volumes[${index}]`))
    const { spec: claim } = volume.ephemeral?.volumeClaimTemplate ?? {}
    const at = `${field}.volumes[${index}].ephemeral.volumeClaimTemplate.spec`
    warnings.push(...claimSpecWarnings(claim, at))
  }
  return [...warnings, ...volumes.flatMap(pathWarnings)]
}

/** A path in a volume; `from`: the part of a projected volume that writes it. */
interface VolumeFile {
  readonly path?: string | undefined
  readonly from?: string
}

/** By the name of the volume: its place is not told. */
function pathWarnings(volume: StoredOf<Volume>): string[] {
  const { name = '', configMap, secret, downwardAPI, projected } = volume
  const as = (kind: string): OverlappingPaths =>
    new OverlappingPaths(`volume ${goQuote(name)} (${kind})`)
  if (configMap) return as(named('ConfigMap', configMap.name)).add(configMap.items)
  if (secret) return as(named('Secret', secret.secretName)).add(secret.items)
  if (downwardAPI) return as('DownwardAPI').add(downwardAPI.items)
  const paths = as('Projected')
  return (projected?.sources ?? []).flatMap((source) =>
    Object.keys(source).length === 0
      ? [`volume ${goQuote(name)} (Projected) has no sources provided`]
      : paths.add(projectedFiles(source)),
  )
}

const named = (kind: string, name = ''): string => `${kind} ${goQuote(name)}`

function projectedFiles(source: StoredOf<VolumeProjection>): readonly VolumeFile[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = source
  const all = (items: readonly VolumeFile[] = [], from: string): VolumeFile[] =>
    items.map(({ path }) => ({ path, from }))
  if (configMap) return all(configMap.items, named('ConfigMap', configMap.name))
  if (secret) return all(secret.items, named('Secret', secret.name))
  if (downwardAPI) return all(downwardAPI.items, 'DownwardAPI')
  if (serviceAccountToken) return all([serviceAccountToken], 'ServiceAccountToken')
  if (clusterTrustBundle) {
    const { name, signerName, path } = clusterTrustBundle
    return [{ path, from: named('ClusterTrustBundle', name ?? signerName) }]
  }
  const { certificateChainPath, keyPath, credentialBundlePath } = source.podCertificate ?? {}
  return [
    { path: certificateChainPath, from: 'PodCertificate chain' },
    { path: keyPath, from: 'PodCertificate key' },
    { path: credentialBundlePath, from: 'PodCertificate credential bundle' },
  ].filter(({ path }) => path)
}

/** Of one volume. More have no place in the headers of an answer, and each path is compared with all before it. */
const MOST_REMEMBERED = 1_000

/** Paths of one volume that are the same or lie in each other. */
class OverlappingPaths {
  readonly #of: string
  /** By how they are told; with a slash at the end. */
  readonly #paths = new Map<string, string>()
  #warningCount = 0

  constructor(of: string) {
    this.#of = of
  }

  add(files: readonly VolumeFile[] = []): string[] {
    return files.flatMap((file) => this.#addOne(file))
  }

  #addOne({ path: given = '', from }: VolumeFile): string[] {
    const path = withoutEnd(given)
    const folder = `${path}/`
    const told = from === undefined ? goQuote(path) : `${goQuote(path)} (${from})`
    const warnings: string[] = []
    for (const [other, otherFolder] of this.#paths) {
      if (!folder.startsWith(otherFolder) && !otherFolder.startsWith(folder)) continue
      if (++this.#warningCount > MOST_REMEMBERED) break
      warnings.push(`${this.#of}: overlapping paths: ${told} with ${other}`)
    }
    if (this.#paths.size < MOST_REMEMBERED) this.#paths.set(told, folder)
    return warnings
  }
}

/** Without slashes at its end. */
function withoutEnd(path: string): string {
  let { length } = path
  while (path[length - 1] === '/') length--
  return path.slice(0, length)
}
