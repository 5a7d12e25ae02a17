/** Smallest valid objects, and a controller at work on them. */
import type { TestContext as Test } from 'node:test'
import { keyOf, resources } from '@gyropilot/api'
import type {
  CSIDriver,
  KubernetesObject,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  ResourceType,
  Volume,
  VolumeAttachment,
} from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import { startLoop, testContext } from '@gyropilot/runtime/testing'
import type { FakeRequest } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { specOfVolume } from '../volume-support/volume-spec.ts'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'
import { MANAGED_ANNOTATION } from './config.ts'
import type { AttachDetachConfiguration } from './config.ts'
import { newAttachment } from './csi-attachment.ts'
import { persistentVolumeAttachDetachController } from './index.ts'

const DRIVER = 'example.com'

/** Of the volume `name` of the driver. */
export function uniqueName(name: string): string {
  return `kubernetes.io/csi/${DRIVER}^${name}-handle`
}

interface NodeOptions {
  readonly isManaged?: boolean
  readonly ready?: 'True' | 'False' | 'Unknown'
  readonly inUse?: readonly string[]
  readonly attached?: readonly string[]
  readonly taints?: readonly string[]
}

export function node(name: string, options: NodeOptions = {}): Node {
  const { isManaged = true, ready = 'True', inUse = [], attached = [], taints = [] } = options
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `${name}-uid`, ...(isManaged && managed()) },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
    status: {
      conditions: [{ type: 'Ready', status: ready }],
      volumesInUse: inUse.map(uniqueName),
      volumesAttached: attached.map((volume) => ({ name: uniqueName(volume), devicePath: '' })),
    },
  }
}

function managed() {
  return { annotations: { [MANAGED_ANNOTATION]: '' } }
}

type AccessModes = NonNullable<PersistentVolumeSpec['accessModes']>

interface VolumeOptions {
  readonly modes?: AccessModes
  readonly driver?: string
  readonly handle?: string
  readonly source?: PersistentVolumeSpec
  readonly namespace?: string
}

/** Bound to the claim of its name. */
export function persistentVolume(name: string, options: VolumeOptions = {}): PersistentVolume {
  const { modes = ['ReadWriteOnce'], driver = DRIVER, namespace = 'ns' } = options
  const { handle = `${name}-handle`, source = { csi: { driver, volumeHandle: handle } } } = options
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { accessModes: modes, claimRef: { namespace, name, uid: `${name}-claim` }, ...source },
  }
}

/** Bound to the volume of its name. */
export function claim(name: string, namespace = 'ns', phase = 'Bound'): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name, uid: `${name}-claim` },
    spec: { volumeName: name },
    status: { phase: phase as 'Bound' },
  }
}

export function spec(name: string, options: VolumeOptions = {}): VolumeSpec {
  return specOfVolume(persistentVolume(name, options))!
}

interface PodOptions {
  readonly node?: string
  readonly namespace?: string
  readonly uid?: string
  readonly claims?: readonly string[]
  readonly volumes?: readonly Volume[]
  readonly phase?: string
  readonly isDeleted?: boolean
  readonly states?: readonly ('running' | 'waiting' | 'terminated')[]
}

export function pod(name: string, options: PodOptions = {}): Pod {
  const { node: nodeName = 'a', namespace = 'ns', uid = `${name}-uid`, claims = ['data'] } = options
  const { volumes = [], phase = 'Running', isDeleted = false, states = [] } = options
  const ofClaims = claims.map((claimName): Volume => {
    return { name: claimName, persistentVolumeClaim: { claimName } }
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      uid,
      ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { nodeName, containers: [], volumes: [...ofClaims, ...volumes] },
    status: {
      phase: phase as 'Running',
      containerStatuses: states.map((state, index) => ({
        name: `c${index}`,
        image: 'img:1',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { [state]: { exitCode: 0 } },
      })),
    },
  }
}

export function attachment(
  volume: string,
  nodeName: string,
  status: VolumeAttachment['status'] = { attached: true },
): VolumeAttachment {
  const { csi, source } = spec(volume)
  return { ...newAttachment(csi!, nodeName, source), status }
}

export function driver(attachRequired: boolean, name = DRIVER): CSIDriver {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name },
    spec: { attachRequired },
  }
}

const TYPES = {
  Node: resources.nodes,
  Pod: resources.pods,
  PersistentVolume: resources.persistentvolumes,
  PersistentVolumeClaim: resources.persistentvolumeclaims,
  VolumeAttachment: resources.volumeattachments,
  CSIDriver: resources.csidrivers,
} as Readonly<Record<string, ResourceType>>

const typeOf = ({ kind = '' }: KubernetesObject): ResourceType => TYPES[kind]!

interface Given {
  readonly objects: readonly KubernetesObject[]
  readonly configuration?: Partial<AttachDetachConfiguration>
  readonly onRequest?: (request: FakeRequest) => unknown
  /** What the driver says of a VolumeAttachment that is not attached yet. Default: it is attached. */
  readonly driver?: (attachment: VolumeAttachment) => VolumeAttachment['status']
  /** That of the controller. Default: work takes no time. */
  readonly clockOf?: (clock: Clock) => Clock
  /** Called in the first turn that the controller leaves to others. */
  readonly meanwhile?: (context: Context) => void
}

export const ATTACHED = { attached: true }

/** A claim and its volume, named `data`. */
export const DATA = [persistentVolume('data'), claim('data')]

/** What the caches miss, and what the driver says. */
interface State {
  driver: (attachment: VolumeAttachment) => VolumeAttachment['status']
  readonly frozen: Set<string>
}

type Context = ReturnType<typeof contextOf>

function contextOf({ objects, configuration, onRequest }: Given) {
  const context = testContext({
    name: 'persistentvolume-attach-detach-controller',
    configuration: {
      ...defaultControllersConfiguration,
      attachDetach: { ...defaultControllersConfiguration.attachDetach, ...configuration },
    },
  })
  context.client.onRequest = onRequest
  for (const object of objects) context.client.put(typeOf(object), object)
  return context
}

/** Brings the caches up to date, but for kinds that are frozen. */
function refresh({ client, informers }: Context, { frozen }: State): void {
  for (const [kind, type] of Object.entries(TYPES)) {
    if (frozen.has(kind)) continue
    const { lister } = informers.informer(type)
    const stored = client.list(type)
    for (const object of stored) {
      const cached = lister.getByKey(keyOf(object))
      if (cached?.metadata?.resourceVersion !== object.metadata?.resourceVersion)
        informers.apply(type, object)
    }
    for (const cached of lister.list())
      if (!stored.some((object) => keyOf(object) === keyOf(cached))) informers.remove(type, cached)
  }
}

/** What the driver has to say of each VolumeAttachment. */
function driveOn({ client }: Context, { driver: answer }: State): void {
  for (const object of client.list(resources.volumeattachments)) {
    const known = object as VolumeAttachment
    if (known.status?.attached === true || known.metadata?.deletionTimestamp) continue
    const status = answer(known)
    if (status !== undefined) client.put(resources.volumeattachments, { ...known, status })
  }
}

/** A controller at work, and a driver; caches are up to date every tenth of a second. */
export async function attaching(t: Test, given: Given) {
  const context = contextOf(given)
  const { client, informers, clock, metrics, events } = context
  const state: State = { driver: given.driver ?? (() => ATTACHED), frozen: new Set() }
  refresh(context, state)
  const { clockOf = (same) => same, meanwhile } = given
  const controller = await persistentVolumeAttachDetachController.build({
    ...context,
    clock: clockOf(clock),
  })
  if (meanwhile !== undefined) clock.after(0, () => meanwhile(context))
  const { stop } = startLoop(controller, clock)
  t.after(stop)
  await clock.advance(0)
  return {
    client,
    informers,
    clock,
    metrics,
    state,
    stop,
    ...seenAt(client),
    told: () => events.map(({ regarding, message }) => `${regarding.metadata?.name}: ${message}`),
    put: (...more: readonly KubernetesObject[]) =>
      more.forEach((object) => void client.put(typeOf(object), object)),
    remove: (object: KubernetesObject) => client.remove(typeOf(object), object),
    async advance(forMs: number, stepMs = 100) {
      for (let doneMs = 0; doneMs < forMs; doneMs += stepMs) {
        driveOn(context, state)
        refresh(context, state)
        await clock.advance(stepMs)
      }
      refresh(context, state)
      await clock.advance(0)
    },
  }
}

/** What the server has, and what was asked of it. */
function seenAt(client: Context['client']) {
  const writes = (): readonly string[] =>
    client
      .requested('create', 'patch', 'delete')
      .map(({ verb, path }) => `${verb} ${/nodes|volumeattachments/.exec(path)?.[0]}`)
  return {
    writes,
    count: (write: string) => writes().filter((each) => each === write).length,
    /** `volume@node` of every VolumeAttachment. */
    attachments: () =>
      client.list(resources.volumeattachments).map((object) => {
        const { spec: wanted, status } = object as VolumeAttachment
        const { persistentVolumeName = 'inline' } = wanted.source
        return `${persistentVolumeName}@${wanted.nodeName}${status?.attached ? '' : '?'}`
      }),
    reported: (name: string) =>
      (client.get(resources.nodes, undefined, name) as Node).status?.volumesAttached?.map(
        (volume) => volume.name,
      ) ?? [],
  }
}

export const MINUTE_MS = 60_000
