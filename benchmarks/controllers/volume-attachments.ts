// What it costs a controller manager to attach the volumes of many pods and to detach them, on an API server without nodes: this
// script plays the driver. Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/volume-attachments.ts --server URL --token TOKEN [--volumes 1000] [--nodes 20] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and
// --controllers=persistentvolume-attach-detach-controller: claims are bound here, and nodes are Ready because they say so.
import { parseArgs } from 'node:util'
import { isTerminating, resources } from '@gyropilot/api'
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  VolumeAttachment,
} from '@gyropilot/api'
import { SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown, SharedInformerFactory } from '@gyropilot/runtime'
import { directClient } from './measured/direct-client.ts'
import { MeasuredManager } from './measured/measured-manager.ts'
import { forEach, phase } from './measured/phases.ts'

const { values, positionals: command } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    volumes: { type: 'string', default: '1000' },
    nodes: { type: 'string', default: '20' },
  },
})
const { server = '', token = '' } = values
const count = Number(values.volumes)
const nodeCount = Number(values.nodes)
const PREFIX = `attach-${process.pid}`
const STORAGE_CLASS = 'none'

const clock = new SystemClock()
const { client } = directClient(server, token, clock)
const nodes = client.resource(resources.nodes)
const volumes = client.resource(resources.persistentvolumes)
const claims = client.resource(resources.persistentvolumeclaims, PREFIX)
const pods = client.resource(resources.pods, PREFIX)
const attachments = client.resource(resources.volumeattachments)
const named = (index: number): string => `${PREFIX}-${index}`

const node = (index: number): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: named(index),
    annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})

const claim = (index: number): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: PREFIX, name: named(index) },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: STORAGE_CLASS,
    volumeName: named(index),
  },
})

const volume = (index: number, uid: string | undefined): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: named(index) },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    claimRef: { namespace: PREFIX, name: named(index), uid },
    csi: { driver: 'example.com', volumeHandle: named(index) },
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName: STORAGE_CLASS,
  },
})

const pod = (index: number): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: PREFIX, name: named(index) },
  spec: {
    nodeName: named(index % nodeCount),
    containers: [{ name: 'c', image: 'img:1' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: named(index) } }],
  },
})

async function bound(index: number): Promise<void> {
  const made = await claims.create(claim(index))
  await volumes.create(volume(index, made.metadata?.uid))
  const value = { status: { phase: 'Bound' } }
  await claims.patch(named(index), { type: 'merge', value }, { subresource: 'status' })
}

/** By the cache of this script: how many volumes each node was told of, and which VolumeAttachments there are. */
const told = new Map<string, number>()
const present = new Set<string>()

function attach({ metadata, status }: VolumeAttachment): void {
  if (status?.attached) return
  const value = { status: { attached: true } }
  void attachments
    .patch(metadata?.name ?? '', { type: 'merge', value }, { subresource: 'status' })
    .catch(() => {})
}

async function playDriver(signal: AbortSignal): Promise<void> {
  const random = new SystemRandom()
  const factory = new SharedInformerFactory({ client, clock, random, logger: silentLogger })
  const seen = (attachment: VolumeAttachment): void => {
    if (!attachment.spec.nodeName.startsWith(PREFIX)) return
    present.add(attachment.metadata?.name ?? '')
    if (!isTerminating(attachment)) attach(attachment)
  }
  factory.informer(resources.volumeattachments).addHandler({
    onAdd: seen,
    onUpdate: (_, current) => seen(current),
    onDelete: (gone) =>
      void present.delete(
        gone instanceof DeletedFinalStateUnknown ? gone.key : (gone.metadata?.name ?? ''),
      ),
  })
  const listed = ({ metadata, status }: Node): void =>
    void told.set(metadata?.name ?? '', status?.volumesAttached?.length ?? 0)
  factory
    .informer(resources.nodes)
    .addHandler({ onAdd: listed, onUpdate: (_, current) => listed(current) })
  factory.start(signal)
  await factory.waitForCacheSync(signal)
}

function toldAll(): number {
  return [...told]
    .filter(([name]) => name.startsWith(PREFIX))
    .reduce((sum, [, attached]) => sum + attached, 0)
}

const progress = (): string => `${present.size} VolumeAttachments, ${toldAll()} told to nodes`

const stopping = new AbortController()
const metadata = { name: PREFIX }
await client
  .resource(resources.namespaces)
  .create({ apiVersion: 'v1', kind: 'Namespace', metadata })
await client
  .resource(resources.serviceaccounts, PREFIX)
  .create({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: PREFIX },
  })
  .catch(() => {})
await playDriver(stopping.signal)
await forEach(nodeCount, (index) => nodes.create(node(index)))
await forEach(count, bound)
const manager = await MeasuredManager.start(command, token)
try {
  await phase(
    `${count} volumes attached`,
    () => manager,
    () => forEach(count, (index) => pods.create(pod(index))),
    () => toldAll() === count,
    { progress },
  )
  await phase(
    `${count} volumes detached`,
    () => manager,
    () => forEach(count, (index) => pods.delete(named(index), { gracePeriodSeconds: 0 })),
    () => toldAll() === 0 && present.size === 0,
    { progress },
  )
} finally {
  await manager.stop()
  stopping.abort()
  const quietly = (deleted: Promise<unknown>): Promise<unknown> => deleted.catch(() => {})
  await forEach(count, (index) => quietly(volumes.delete(named(index))))
  await forEach(nodeCount, (index) => quietly(nodes.delete(named(index))))
  await client.resource(resources.namespaces).delete(PREFIX)
}
process.exit(0)
