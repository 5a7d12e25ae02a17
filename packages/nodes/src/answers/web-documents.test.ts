import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container } from '@gyropilot/api'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { addDocuments, isOfDocuments, missingDocument, servedPage } from './web-documents.ts'

const nginx: Container = { name: 'c', image: 'docker.io/library/nginx:1.29' }
const httpd: Container = { name: 'c', image: 'registry.example.com/web/httpd:2.4' }
const mounted = {
  ...nginx,
  volumeMounts: [{ name: 'v', mountPath: '/usr/share/nginx/html' }],
}
const INDEX = '/usr/share/nginx/html/index.html'

function filesOf(container: Container): FileStore {
  const store = new FileStore()
  addDocuments(store, container)
  return store
}

async function served(container: Container, path: string, store: FileStore): Promise<unknown> {
  const mounts = (container.volumeMounts ?? []).map(({ mountPath }) => {
    const volume = new FileStore()
    volume.set('/of-volume.css', Buffer.from('of the volume'))
    return { path: mountPath, store: volume, subPath: '', readOnly: false }
  })
  const page = await servedPage(container, path, async () => new FileTree(store, mounts))
  return page && [page.status, page.type, Buffer.from(page.body).toString()]
}

test('an untouched index is the usual page, a written one is served', async () => {
  const store = filesOf(nginx)
  assert.equal(await served(nginx, '/', store), undefined)
  store.set(INDEX, Buffer.from('mine'))
  store.set('/usr/share/nginx/html/a/b.json', Buffer.from('{}'))
  for (const path of ['/', '/index.html', '/index.html?x=/../..', '/a/../'])
    assert.deepEqual(await served(nginx, path, store), [200, 'text/html', 'mine'])
  assert.deepEqual(await served(nginx, '/a/b.json', store), [200, 'application/json', '{}'])
  assert.equal(await served(nginx, '/nothing-known', store), undefined)
})

test('nothing above the folder of documents is served', async () => {
  const store = filesOf(nginx)
  store.set('/etc/secret', Buffer.from('x'))
  assert.equal(await served(nginx, '/../../../../etc/secret', store), undefined)
})

for (const [container, path, status] of [
  [nginx, '/', 403],
  [nginx, '/index.html', 404],
  [nginx, 'index.html?a', 404],
  [nginx, '/healthz', undefined],
  [httpd, '/', undefined],
  [httpd, '/index.html', 404],
  [mounted, '/', undefined],
  [mounted, '/index.html', undefined],
  [{ ...nginx, command: ['sleep', '9'] }, '/index.html', undefined],
  [{ ...nginx, image: 'nginx-like' }, '/index.html', undefined],
  [{ name: 'c', image: 'agnhost', args: ['test-webserver'] }, '/localhost.crt', 404],
  [{ name: 'c', image: 'agnhost', command: ['/agnhost', 'test-webserver'] }, '/localhost.crt', 404],
  [{ name: 'c', image: 'agnhost', args: ['test-webserver'] }, '/', undefined],
  [{ name: 'c', image: 'agnhost', args: ['netexec'] }, '/localhost.crt', undefined],
] as const)
  test(`without its index ${JSON.stringify(container)} answers ${path} with ${status}`, async () => {
    const empty = new FileStore()
    const page = (await served(container, path, empty)) as [number, string, string] | undefined
    assert.equal(page?.[0], status)
    assert.equal(missingDocument(container, path, empty), status)
    assert.equal(isOfDocuments(container, path), status !== undefined)
    // Nobody has looked into the container, so nothing was taken away.
    assert.equal(missingDocument(container, path, undefined), undefined)
    assert.equal(missingDocument(container, path, filesOf(container)), undefined)
  })

test('a volume over the documents is served, and says nothing of what it does not have', async () => {
  const store = filesOf(mounted)
  assert.deepEqual(await served(mounted, '/of-volume.css', store), [
    200,
    'text/css',
    'of the volume',
  ])
  assert.equal(await served(mounted, '/', store), undefined)
})

test('the servers of the images kitten and nautilus say which of them they are', async () => {
  for (const name of ['kitten', 'nautilus']) {
    const container: Container = { name: 'c', image: `example.com/${name}:1` }
    const [status, type, text] = (await served(container, '/data.json', filesOf(container))) as [
      number,
      string,
      string,
    ]
    assert.deepEqual([status, type], [200, 'application/json'])
    assert.deepEqual(JSON.parse(text), { image: `${name}.jpg` })
    assert.equal(await served(container, '/', filesOf(container)), undefined)
  }
})
