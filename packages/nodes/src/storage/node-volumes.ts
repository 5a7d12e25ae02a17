/** Volumes behind claims, on one node: waited for, mounted, let go. Contract: docs/behaviour/simulation/kubelet.md, Volumes. */
import { isClaimBound } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '@gyropilot/api'
import type { FileStore } from '../files/file-store.ts'
import { DriverBackend, OperationRefused } from './driver-backend.ts'
import { NodeExpansion } from './node-expansion.ts'
import type { NodeExpansionOptions } from './node-expansion.ts'
import { NodeMachine } from './node-machine.ts'
import { ReportedVolumes } from './reported-volumes.ts'
import type { ReportedVolumesOptions } from './reported-volumes.ts'
import { valuesOf } from './script.ts'
import { placeOf, sharedPlaceOf } from './volume-data.ts'
import type { VolumeData } from './volume-data.ts'
import type { VolumeListers } from './volume-sources.ts'

interface NodeVolumesOptions extends ReportedVolumesOptions, NodeExpansionOptions {
  readonly data: VolumeData
}

type Mounting =
  | { readonly state: 'mounted'; readonly store: FileStore }
  /** Not yet, and nobody is told: somebody else has to act. */
  | { readonly state: 'waiting'; readonly reason: string }
  /** The driver refused. */
  | { readonly state: 'failed'; readonly volumeName: string; readonly message: string }

export class NodeVolumes {
  readonly #options: NodeVolumesOptions
  readonly #backend: DriverBackend
  readonly #reported: ReportedVolumes
  readonly #expansion: NodeExpansion
  readonly machine: NodeMachine

  constructor(options: NodeVolumesOptions) {
    this.#options = options
    this.machine = new NodeMachine(options.data, options.nodeName)
    this.#backend = new DriverBackend(options.clock)
    this.#reported = new ReportedVolumes(options)
    this.#expansion = new NodeExpansion(options)
  }

  /** `lifetime`: of the node's process. */
  begin(lifetime: AbortSignal): void {
    this.#reported.begin(lifetime)
    this.#expansion.begin(lifetime)
  }

  /** One look at the volume behind a claim; the caller comes again while it is not mounted. */
  async mount(pod: Pod, claimName: string, signal: AbortSignal): Promise<Mounting> {
    const { sources, data, nodeName } = this.#options
    const listers = await sources.listers(signal)
    const found = volumeBehind(pod, claimName, listers)
    if ('reason' in found) return { state: 'waiting', ...found }
    const { volume, claim } = found
    const uid = pod.metadata?.uid ?? ''
    const unattached = await this.#attachment(volume, uid, listers, signal)
    if (unattached !== undefined) return { state: 'waiting', reason: unattached }
    const volumeName = volume.metadata?.name ?? ''
    try {
      await this.#backend.perform('mount', `${uid} ${volumeName}`, valuesOf(volume), signal)
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error
      return { state: 'failed', volumeName, message: error.message }
    }
    this.#expansion.mounted(claim, uid)
    return { state: 'mounted', store: data.of(placeOf(volume, nodeName)) }
  }

  /** What a volume that needs no claim shows to every pod that names it; undefined: it is the pod's own. */
  shared(volume: Volume): FileStore | undefined {
    const { data, nodeName } = this.#options
    const place = sharedPlaceOf(volume, nodeName)
    return place === undefined ? undefined : data.of(place)
  }

  /** The pod is done with its volumes: they are unmounted, and the server hears of it. */
  release(podUid: string, signal: AbortSignal): void {
    this.#expansion.unmounted(podUid)
    this.#reported.release(podUid, signal)
  }

  /** What the volume still waits for; undefined: nothing. */
  async #attachment(
    volume: PersistentVolume,
    podUid: string,
    listers: VolumeListers,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { node, nodeName } = this.#options
    const { csi } = volume.spec ?? {}
    if (csi === undefined) return undefined
    if (listers.drivers.get(undefined, csi.driver)?.spec?.attachRequired === false) return undefined
    const unique = `kubernetes.io/csi/${csi.driver}^${csi.volumeHandle}`
    await this.#reported.use(unique, podUid, signal)
    const attached = node()?.status?.volumesAttached ?? []
    if (!attached.some(({ name }) => name === unique)) return 'volume not attached'
    const name = volume.metadata?.name
    const isConfirmed = listers.attachments
      .list()
      .some(
        ({ spec, status }) =>
          spec?.nodeName === nodeName &&
          spec.source?.persistentVolumeName === name &&
          status?.attached === true,
      )
    return isConfirmed ? undefined : 'attachment not confirmed'
  }
}

function volumeBehind(
  pod: Pod,
  claimName: string,
  { claims, volumes }: VolumeListers,
):
  | { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }
  | { readonly reason: string } {
  const claim = claims.get(pod.metadata?.namespace, claimName)
  const about = `error processing PVC ${pod.metadata?.namespace}/${claimName}`
  if (claim === undefined)
    return { reason: `${about}: persistentvolumeclaim ${JSON.stringify(claimName)} not found` }
  if (!isClaimBound(claim)) return { reason: `${about}: PVC is not bound` }
  const name = claim.spec?.volumeName ?? ''
  const volume = volumes.get(undefined, name)
  if (volume === undefined)
    return { reason: `${about}: persistentvolume ${JSON.stringify(name)} not found` }
  if (volume.spec?.claimRef?.uid !== claim.metadata?.uid)
    return {
      reason: `${about}: persistentvolume ${JSON.stringify(name)} is bound to another claim`,
    }
  return { volume, claim }
}
