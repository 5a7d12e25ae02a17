/** Gives a pod its volumes before it gets its node. Contract: docs/behaviour/simulation/scheduler.md, Volumes. */
import { isClaimBound, keyOf, resources, storageClassNameOf } from '@gyropilot/api'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { InformerFactory } from '@gyropilot/runtime'
import { AssumedObjects } from './assumed-objects.ts'
import type { VolumeListers } from './claims.ts'
import { SELECTED_NODE, isReachable, planFor, podVolumes } from './volume-plan.ts'
import type { VolumePlan } from './volume-plan.ts'

const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller'
const LOOK_MS = 1_000
const PATIENCE_MS = 600_000
const BY_CLASS = 'storageClassName'
const BY_NODE = 'spec.nodeName'

interface VolumeBinderOptions {
  readonly client: Client
  readonly clock: Clock
  readonly informers: InformerFactory
  /** Something happened that may help a pod. */
  readonly onChange: () => void
  /** As last seen; undefined: it is gone. */
  readonly nodeNamed: (name: string) => Node | undefined
}

/** What is about to be written for one pod. */
export interface AssumedVolumes {
  readonly volumes: readonly PersistentVolume[]
  readonly claims: readonly PersistentVolumeClaim[]
  /** All that a volume is made for, also those that say already for which node. */
  readonly provisions: readonly PersistentVolumeClaim[]
  /** All whose volumes must be there in the end, by namespace and name. */
  readonly awaited: readonly PersistentVolumeClaim[]
}

export class VolumeBinder {
  readonly listers: VolumeListers
  readonly #options: VolumeBinderOptions
  readonly #volumes = new AssumedObjects<PersistentVolume>(keyOf)
  readonly #claims = new AssumedObjects<PersistentVolumeClaim>(keyOf)

  constructor(options: VolumeBinderOptions) {
    this.#options = options
    this.listers = this.#watch()
  }

  #watch(): VolumeListers {
    const { informers, onChange } = this.#options
    const claims = informers.informer(resources.persistentvolumeclaims)
    const volumes = informers.informer(resources.persistentvolumes)
    const classes = informers.informer(resources.storageclasses)
    const drivers = informers.informer(resources.csidrivers)
    const csiNodes = informers.informer(resources.csinodes)
    const capacities = informers.informer(resources.csistoragecapacities)
    const attachments = informers.informer(resources.volumeattachments)
    const onAny = { onAdd: onChange, onUpdate: onChange, onDelete: onChange }
    for (const informer of [claims, volumes, classes, drivers, csiNodes, capacities])
      informer.addHandler(onAny)
    attachments.addHandler({ onDelete: onChange })
    volumes.addIndex(BY_CLASS, (volume) => [storageClassNameOf(volume)])
    capacities.addIndex(BY_CLASS, ({ storageClassName }) => [storageClassName])
    attachments.addIndex(BY_NODE, ({ spec }) => [spec?.nodeName ?? ''])
    return {
      claims: {
        get: (namespace, name) => this.#claims.over(claims.lister.get(namespace, name)),
      },
      volumes: { get: (_, name) => this.#volumes.over(volumes.lister.get(undefined, name)) },
      classes: classes.lister,
      drivers: drivers.lister,
      csiNodes: csiNodes.lister,
      volumesOfClass: (name) =>
        volumes.lister.byIndex(BY_CLASS, name).map((volume) => this.#volumes.over(volume)!),
      capacitiesOf: (name) => capacities.lister.byIndex(BY_CLASS, name),
      attachmentsTo: (nodeName) => attachments.lister.byIndex(BY_NODE, nodeName),
    }
  }

  /** Undefined: all that the pod needs is bound. Nobody else gets what is assumed, until `forget`. */
  assume(pod: Pod, node: Node): AssumedVolumes | undefined {
    const volumes = podVolumes(pod, this.listers)
    if (volumes.toChoose.length === 0) return undefined
    const assumed = assumedOf(planFor(volumes, node, this.listers).plan, node)
    for (const volume of assumed.volumes) this.#volumes.assume(volume)
    for (const claim of assumed.claims) this.#claims.assume(claim)
    return assumed
  }

  forget({ volumes, claims }: AssumedVolumes): void {
    for (const volume of volumes) this.#volumes.forget(volume)
    for (const claim of claims) this.#claims.forget(claim)
  }

  /** Resolves when the volumes are bound. Rejects when they cannot be, in words of kube-scheduler. Writes nothing once `signal` aborts. */
  async bind(assumed: AssumedVolumes, nodeName: string, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options
    for (const volume of assumed.volumes) {
      signal.throwIfAborted()
      this.#volumes.assume(await client.resource(resources.persistentvolumes).update(volume))
    }
    for (const claim of assumed.claims) {
      signal.throwIfAborted()
      const claims = client.resource(resources.persistentvolumeclaims, claim.metadata?.namespace)
      this.#claims.assume(await claims.update(claim))
    }
    const untilMs = clock.monotonicMs() + PATIENCE_MS
    while (clock.monotonicMs() < untilMs) {
      await sleep(clock, LOOK_MS, signal)
      if (this.#isDone(assumed, nodeName)) return
    }
    throw new Error('context deadline exceeded')
  }

  #isDone({ volumes, provisions, awaited }: AssumedVolumes, nodeName: string): boolean {
    const node = this.#options.nodeNamed(nodeName)
    if (node === undefined)
      throw new Error(`failed to get node ${JSON.stringify(nodeName)}: node not found`)
    for (const { metadata, spec } of volumes) {
      const current = this.listers.volumes.get(undefined, metadata?.name ?? '')
      if (current === undefined)
        throw new Error(`persistentvolume ${JSON.stringify(metadata?.name)} not found`)
      checkReachable(current, node)
      if (current.spec?.claimRef?.uid !== spec?.claimRef?.uid)
        throw new Error(`ClaimRef got reset for pv ${JSON.stringify(metadata?.name)}`)
    }
    for (const { metadata } of provisions) {
      const current = this.#current(metadata)
      if (current.metadata?.annotations?.[SELECTED_NODE] !== nodeName && !isClaimBound(current))
        throw new Error(`provisioning failed for PVC ${JSON.stringify(metadata?.name)}`)
      const made = this.listers.volumes.get(undefined, current.spec?.volumeName ?? '')
      if (made !== undefined) checkReachable(made, node)
    }
    return awaited.every(({ metadata }) => isClaimBound(this.#current(metadata)))
  }

  #current(metadata: PersistentVolumeClaim['metadata']): PersistentVolumeClaim {
    const { namespace, name = '', uid } = metadata ?? {}
    const claim = this.listers.claims.get(namespace, name)
    if (claim === undefined || claim.metadata?.uid !== uid)
      throw new Error(`persistentvolumeclaim ${JSON.stringify(name)} not found`)
    return claim
  }
}

function checkReachable(volume: PersistentVolume, node: Node): void {
  if (!isReachable(volume, node))
    throw new Error(
      `pv ${JSON.stringify(volume.metadata?.name)} node affinity doesn't match node ${JSON.stringify(node.metadata?.name)}: no matching NodeSelectorTerms`,
    )
}

function assumedOf({ bindings, provisions }: VolumePlan, node: Node): AssumedVolumes {
  return {
    volumes: bindings
      // One that was kept for the claim by its user is left as it is, once its uid is in.
      .filter(({ claim, volume }) => volume.spec?.claimRef?.uid !== claim.metadata?.uid)
      .map(({ claim, volume }) => reserved(volume, claim)),
    claims: provisions
      .filter(({ metadata }) => metadata?.annotations?.[SELECTED_NODE] === undefined)
      .map((claim) => selected(claim, node.metadata?.name ?? '')),
    provisions,
    awaited: [...bindings.map(({ claim }) => claim), ...provisions],
  }
}

function reserved(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const isKept = volume.spec?.claimRef !== undefined
  const { namespace, name, uid, resourceVersion } = claim.metadata ?? {}
  const claimRef = {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  const annotations = isKept
    ? volume.metadata?.annotations
    : { ...volume.metadata?.annotations, [BOUND_BY_CONTROLLER]: 'yes' }
  return {
    ...volume,
    metadata: { ...volume.metadata, ...(annotations === undefined ? {} : { annotations }) },
    spec: { ...volume.spec, claimRef },
  }
}

function selected(claim: PersistentVolumeClaim, nodeName: string): PersistentVolumeClaim {
  const annotations = { ...claim.metadata?.annotations, [SELECTED_NODE]: nodeName }
  return { ...claim, metadata: { ...claim.metadata, annotations } }
}
