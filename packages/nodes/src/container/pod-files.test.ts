import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { StatusError } from '@gyropilot/client'
import { pod } from '@gyropilot/api/testing'
import { FileTree } from './file-tree.ts'
import { FileStore } from './file-store.ts'
import { PodSources, fillRoot } from './pod-files.ts'
import { PodStorage } from './pod-storage.ts'

const OBJECTS: Readonly<Record<string, object>> = {
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
  const environment = await new PodSources(client, given).environment(container, 'n1')
  const own = Object.fromEntries(
    [...environment].filter(([name]) => /^(P_|[A-Z]{1,3}$|GONE)/.test(name)),
  )
  assert.deepEqual(own, {
    'P_app.conf': 'color=blue',
    P_MODE: 'fast',
    A: 'a',
    B: 'a$(NO) $(A)',
    PW: 'hunter2',
    POD: 'p',
    APP: 'web',
    CPU: '1',
  })
})

test('volumes are mounted: config maps, secrets, projections read-only, storage shared by the containers', async () => {
  const storage = new PodStorage()
  const sources = new PodSources(client, given)
  const root = storage.root('c', 'id', (store) => fillRoot(store, given, container, 'n1'))
  const files = new FileTree(root, await sources.mounts(container, storage, 'n1'))
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
  const other = new FileTree(new FileStore(), await sources.mounts(container, storage, 'n1'))
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
