import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from './file-store.ts'
import { FileTree } from './file-tree.ts'

const isKept = (path: string): boolean => path.startsWith('/dev/')

function tree(readOnly: boolean) {
  const root = new FileStore()
  for (const folder of ['/dev', '/tmp', '/data']) root.makeFolder(folder)
  root.set('/etc/conf', Buffer.from('x'))
  const data = { path: '/data', store: new FileStore(), subPath: '', readOnly: false }
  return new FileTree(root, [data], { readOnly, isKept })
}

test('what an image holds is read-only where that is asked for; what is mounted over it is not', () => {
  const files = tree(true)
  for (const act of [
    () => files.write('/tmp/x', Buffer.from('')),
    () => files.remove('/etc/conf'),
    () => files.makeFolder('/x', false),
    () => files.describe('/etc/conf', { mode: 0o600 }),
  ])
    assert.throws(act, { message: 'Read-only file system' })
  files.write('/data/x', Buffer.from('x'))
  files.write('/dev/termination-log', Buffer.from('x'))
  assert.deepEqual(
    ['/tmp/x', '/data/x', '/dev/x'].map((path) => files.isReadOnly(path)),
    [true, false, false],
  )
  assert.ok(files.mounts.find(({ path }) => path === '')?.readOnly)
})

test('else all of it may be written', () => {
  const files = tree(false)
  files.write('/tmp/x', Buffer.from('x'))
  assert.equal(files.isReadOnly('/etc/conf'), false)
})
