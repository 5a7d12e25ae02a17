import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { StatusError } from '@gyropilot/client'
import { pod } from '@gyropilot/api/testing'
import { FileTree } from '../files/file-tree.ts'
import { FileStore } from '../files/file-store.ts'
import { PodSources, fillRoot } from './pod-files.ts'
import { PodStorage } from './pod-storage.ts'

const service = (name: string, creationTimestamp: string, clusterIP: string) => ({
  metadata: { name, creationTimestamp },
  spec: { clusterIP, ports: [{ port: 80 }] },
})
const SERVICES = [
  service('web', '2026-01-01T00:00:05Z', '10.0.0.7'),
  service('late', '2026-01-01T00:00:11Z', '10.0.0.8'),
]
const OBJECTS: Readonly<Record<string, object>> = {
  'services/kubernetes': service('kubernetes', '2026-01-01T00:00:00Z', '10.0.0.1'),
  'configmaps/conf': { data: { 'app.conf': 'color=blue', MODE: 'fast' } },
  'secrets/sec': { data: { password: Buffer.from('hunter2').toString('base64') } },
}

/** Knows the objects above and grants tokens. */
const client = {
  resource: ({ resource }: { resource: string }) => ({
    async get(name: string) {
      const found = OBJECTS[`${resource}/${name}`]
      if (found !== undefined) return found
      throw new StatusError({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        code: 404,
        reason: 'NotFound',
        metadata: {},
      })
    },
    list: async () => ({ items: SERVICES }),
    createSubresource: async (account: string) => ({ status: { token: `token-of-${account}` } }),
  }),
} as unknown as Client

const container = {
  name: 'c',
  image: 'i',
  envFrom: [{ prefix: 'P_', configMapRef: { name: 'conf' } }],
  env: [
    { name: 'A', value: 'a' },
    { name: 'B', value: '$(A)$(NO) $$(A)' },
    { name: 'C', value: 'pa$$word' },
    { name: 'PW', valueFrom: { secretKeyRef: { name: 'sec', key: 'password' } } },
    { name: 'GONE', valueFrom: { configMapKeyRef: { name: 'nosuch', key: 'k', optional: true } } },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
    { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'requests.cpu' } } },
  ],
  resources: { requests: { cpu: '100m' } },
  volumeMounts: [
    { name: 'conf', mountPath: '/etc/conf/' },
    { name: 'conf', mountPath: '/one.conf', subPath: 'app.conf' },
    { name: 'all', mountPath: '/var/all' },
    { name: 'tmp', mountPath: '/cache' },
  ],
}
const given: Pod = pod({
  name: 'p',
  labels: { app: 'web' },
  spec: {
    containers: [container],
    serviceAccountName: 'robot',
    volumes: [
      { name: 'conf', configMap: { name: 'conf', items: [{ key: 'app.conf', path: 'app.conf' }] } },
      { name: 'tmp', emptyDir: {} },
      {
        name: 'all',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token' } },
            { secret: { name: 'sec' } },
            { configMap: { name: 'nosuch', optional: true } },
            {
              downwardAPI: {
                items: [{ path: 'ns', fieldRef: { fieldPath: 'metadata.namespace' } }],
              },
            },
          ],
        },
      },
    ],
  },
})

test('the environment has what the spec says, in its order', async () => {
  const untouched = (): never => assert.fail('nothing of it is in a file of the pod')
  const environment = await new PodSources(client, given, untouched).environment(container, 'n1')
  const own = Object.fromEntries(
    [...environment].filter(([name]) => /^(P_|[A-Z]{1,3}$|GONE)/.test(name)),
  )
  assert.deepEqual(own, {
    'P_app.conf': 'color=blue',
    P_MODE: 'fast',
    A: 'a',
    B: 'a$(NO) $(A)',
    C: 'pa$word',
    PW: 'hunter2',
    POD: 'p',
    APP: 'web',
    CPU: '1',
  })
})

test('labels stand in the order of their keys', async () => {
  const fieldRef = { fieldPath: 'metadata.labels' }
  const all = { name: 'c', image: 'i', env: [{ name: 'ALL', valueFrom: { fieldRef } }] }
  const labelled = pod({ name: 'p', labels: { 'app.io/x': '3', 'app-tier': '2', app: '1' } })
  const sources = new PodSources(client, labelled, () => new PodStorage())
  const environment = await sources.environment(all, 'n1')
  assert.equal(environment.get('ALL'), 'app="1"\napp-tier="2"\napp.io/x="3"')
})

test('services are in the environment that were there when the container started', async () => {
  const named = async (of: Pod): Promise<readonly string[]> => {
    const environment = await new PodSources(client, of, () => new PodStorage()).environment(
      container,
      'n1',
    )
    return [...environment.keys()].filter((name) => name.endsWith('_SERVICE_HOST'))
  }
  const own = { containerID: 'x', image: '', imageID: '', ready: true, restartCount: 0 }
  const running = { running: { startedAt: '2026-01-01T00:00:10Z' } }
  const started: Pod = {
    ...given,
    status: { containerStatuses: [{ ...own, name: 'c', state: running }] },
  }
  assert.deepEqual(await named(started), ['KUBERNETES_SERVICE_HOST', 'WEB_SERVICE_HOST'])
  assert.deepEqual(await named(given), [
    'KUBERNETES_SERVICE_HOST',
    'WEB_SERVICE_HOST',
    'LATE_SERVICE_HOST',
  ])
  const unlinked: Pod = { ...given, spec: { ...given.spec!, enableServiceLinks: false } }
  assert.deepEqual(await named(unlinked), ['KUBERNETES_SERVICE_HOST'])
})

test('the environment of a run stays as it was made; the next run has one of its own', async () => {
  const storage = new PodStorage()
  let made = 0
  const make = async (): Promise<Map<string, string>> => new Map([['N', String(++made)]])
  const seen = async (id: string) => (await storage.environment('c', id, make)).get('N')
  assert.deepEqual(
    [await seen('one'), await seen('one'), await seen(''), await seen('two'), await seen('')],
    ['1', '1', '1', '2', '2'],
  )
})

test('volumes are mounted: config maps, secrets, projections read-only, storage shared by the containers', async () => {
  const storage = new PodStorage()
  const sources = new PodSources(client, given, () => storage)
  const root = storage.root('c', 'id', (store) => fillRoot(store, given, container, 'n1'))
  const files = new FileTree(root, await sources.mounts(container, 'n1'))
  const text = async (path: string): Promise<string> =>
    Buffer.from(await files.read(path)).toString()
  assert.equal(await text('/etc/conf/app.conf'), 'color=blue')
  assert.deepEqual(files.list('/etc/conf'), ['app.conf'])
  assert.equal(await text('/one.conf'), 'color=blue')
  assert.deepEqual(files.list('/var/all'), ['ns', 'password', 'token'])
  assert.equal(await text('/var/all/token'), 'token-of-robot')
  assert.equal(await text('/var/all/ns'), 'default')
  assert.equal(await text('/etc/hostname'), 'p\n')
  assert.throws(() => files.write('/etc/conf/x', Buffer.from('')), /Read-only file system/)
  files.write('/cache/x', Buffer.from('kept'))
  const other = new FileTree(new FileStore(), await sources.mounts(container, 'n1'))
  assert.equal(Buffer.from(await other.read('/cache/x')).toString(), 'kept')
})

test('a container that starts anew has the files of its image; what it wrote counts no longer', () => {
  const storage = new PodStorage()
  const fill = (store: FileStore): void => store.set('/given', Buffer.from('x'))
  const first = storage.root('c', 'first', fill)
  const free = first.freeBytes
  first.set('/own', Buffer.alloc(1_000_000))
  assert.equal(storage.root('c', 'first', fill), first)
  const second = storage.root('c', 'second', fill)
  assert.equal(second.get('/own'), undefined)
  assert.ok(second.get('/given') instanceof Uint8Array)
  assert.equal(second.freeBytes, free)
})

test('the folders that programs take for granted are there to be written to', () => {
  const given = pod({ name: 'p' })
  const store = new FileStore()
  fillRoot(store, given, given.spec!.containers[0]!, 'n1')
  const files = new FileTree(store, [])
  for (const folder of ['/tmp', '/var/tmp', '/var/log', '/var/run', '/run', '/opt', '/srv', '/mnt'])
    files.write(`${folder}/x`, Buffer.from('1'))
  assert.deepEqual(files.list('/var/tmp'), ['x'])
})

test('files of volumes have the mode of their item, else of their volume; own volumes are as their kind', async () => {
  const mounted = (name: string) => ({ name, mountPath: `/${name}` })
  const items = [{ key: 'app.conf', path: 'a/own', mode: 0o400 }]
  const fields = [
    { path: 'own', fieldRef: { fieldPath: 'metadata.name' }, mode: 0o640 },
    { path: 'usual', fieldRef: { fieldPath: 'metadata.name' } },
  ]
  const volumes = [
    { name: 'conf', configMap: { name: 'conf', items } },
    { name: 'sec', secret: { secretName: 'sec', defaultMode: 0o440 } },
    { name: 'fields', downwardAPI: { items: fields } },
    {
      name: 'all',
      projected: {
        defaultMode: 0o444,
        sources: [
          { serviceAccountToken: { path: 'token' } },
          { configMap: { name: 'conf', items } },
          { downwardAPI: { items: fields } },
        ],
      },
    },
    { name: 'empty', emptyDir: { medium: 'Memory' } },
  ]
  const reading = { ...container, volumeMounts: volumes.map(({ name }) => mounted(name)) }
  const given = pod({ name: 'p', spec: { containers: [reading], volumes } })
  const storage = new PodStorage()
  const sources = new PodSources(client, given, () => storage)
  const files = new FileTree(new FileStore(), await sources.mounts(reading, 'n1'))
  const modeOf = (path: string): string => files.status(path).mode.toString(8)
  assert.deepEqual(['/conf/a/own', '/sec/password', '/fields/own', '/fields/usual'].map(modeOf), [
    '400',
    '440',
    '640',
    '644',
  ])
  assert.deepEqual(['/all/token', '/all/a/own', '/all/own', '/all/usual'].map(modeOf), [
    '444',
    '400',
    '640',
    '444',
  ])
  assert.deepEqual(files.status('/empty'), {
    mode: 0o1777,
    uid: 0,
    gid: 0,
    isFolder: true,
    fileSystem: 'tmpfs',
  })
})

test('what goes takes along whose it was', () => {
  const store = new FileStore()
  for (const path of ['/a/x', '/ab']) {
    store.set(path, Buffer.from('1'))
    store.describe(path, { mode: 0o600 })
    store.describe(path, { uid: 5 })
  }
  store.remove('/a')
  store.set('/a/x', Buffer.from('2'))
  assert.deepEqual(store.attributesOf('/a/x'), {})
  assert.deepEqual(store.attributesOf('/ab'), { mode: 0o600, uid: 5 })
})

test('a part of a volume that is not there becomes a folder, for all who mount the volume', async () => {
  const volumes = [{ name: 'v', emptyDir: {} }]
  const volumeMounts = [
    { name: 'v', mountPath: '/all' },
    { name: 'v', mountPath: '/part', subPathExpr: 'a/$(WHO)' },
  ]
  const env = [{ name: 'WHO', value: 'me' }]
  const container = { name: 'c', image: 'x:1', env, volumeMounts }
  const own = pod({ name: 'own', spec: { volumes, containers: [container] } })
  const storage = new PodStorage()
  const sources = new PodSources(client, own, () => storage)
  const files = new FileTree(new FileStore(), await sources.mounts(container, 'n1'))
  assert.ok(files.isFolder('/all/a/me'))
  files.write('/all/a/me/x', Buffer.from('seen'))
  assert.equal(Buffer.from(await files.read('/part/x')).toString(), 'seen')
  files.write('/all/file', Buffer.from('kept'))
  const volumeMount = { name: 'v', mountPath: '/one', subPath: 'file' }
  const again = await sources.mounts({ ...container, volumeMounts: [volumeMount] }, 'n1')
  const one = new FileTree(new FileStore(), again)
  assert.equal(Buffer.from(await one.read('/one')).toString(), 'kept')
})

test('a volume that is an image has the files of the image, as far as they are known, and nobody writes there', async () => {
  const images = { name: 'img', image: { reference: 'example.com/kitten:1' } }
  const user = { name: 'c', image: 'busybox', volumeMounts: [{ name: 'img', mountPath: '/v' }] }
  const of = pod({ name: 'p', spec: { containers: [user], volumes: [images] } })
  const sources = new PodSources(client, of, () => new PodStorage())
  const tree = new FileTree(new FileStore(), await sources.mounts(user, 'n1'))
  const read = async (path: string) => Buffer.from(await tree.read(path)).toString()
  assert.match(await read('/v/data.json'), /"image": "kitten.jpg"/)
  assert.match(await read('/v/etc/os-release'), /^NAME="Alpine Linux"\n/)
  assert.throws(() => tree.write('/v/x', Buffer.from('x')), /Read-only file system/)
})

test('a part of a volume that is mounted by itself stays as it was until the container starts anew', async () => {
  let text = 'old'
  const changing = {
    resource: () => ({ get: async () => ({ data: { k: text } }) }),
  } as unknown as Client
  const volumes = [{ name: 'v', configMap: { name: 'conf', defaultMode: 0o400 } }]
  const volumeMounts = [
    { name: 'v', mountPath: '/all' },
    { name: 'v', mountPath: '/one', subPath: 'k' },
  ]
  const reading = { name: 'c', image: 'x:1', volumeMounts }
  const own = pod({ name: 'p', spec: { volumes, containers: [reading] } })
  const storage = new PodStorage()
  const seenBy = async (containerId: string) => {
    const sources = new PodSources(changing, own, () => storage)
    const files = new FileTree(new FileStore(), await sources.mounts(reading, 'n1', containerId))
    assert.equal(files.status('/one').mode, 0o400)
    const contents = await Promise.all(['/all/k', '/one'].map((path) => files.read(path)))
    return contents.map((bytes) => Buffer.from(bytes).toString())
  }
  assert.deepEqual(await seenBy('first'), ['old', 'old'])
  text = 'new'
  assert.deepEqual(await seenBy('first'), ['new', 'old'])
  assert.deepEqual(await seenBy('second'), ['new', 'new'])
})
