import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { patchNode } from './patch-node.ts'

const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
const live = (resourceVersion: string): Node => ({
  ...node,
  metadata: { name: 'n', resourceVersion },
})

test('the patch is made of the live node and carries its version', () => {
  const { writes, result } = drive(
    patchNode(node, ({ metadata }) => ({ spec: { externalID: metadata?.resourceVersion } })),
    { onRead: () => ({ ok: true, object: live('7') }) },
  )
  const value = { spec: { externalID: '7' }, metadata: { resourceVersion: '7' } }
  assert.deepEqual(
    writes.map((write) => write.verb === 'patch' && [write.name, write.patch]),
    [['n', { type: 'strategic', value }]],
  )
  assert.equal(result, undefined)
})

test('nothing is written where nothing changes, or the node is gone', () => {
  const none = drive(
    patchNode(node, () => undefined),
    {
      onRead: () => ({ ok: true, object: live('7') }),
    },
  )
  assert.deepEqual([none.writes, none.result], [[], undefined])
  const gone = refused(404, 'NotFound')
  const { result } = drive(
    patchNode(node, () => ({})),
    { onRead: () => gone },
  )
  assert.equal(result, !gone.ok && gone.error)
})

test('a conflict is read and tried again, five times with a pause; another refusal is not', () => {
  let version = 0
  const run = (code: number) =>
    drive(
      patchNode(node, () => ({ spec: {} })),
      {
        onRead: () => ({ ok: true, object: live(String(++version)) }),
        onWrite: () => refused(code, code === 409 ? 'Conflict' : 'Forbidden'),
      },
    )
  const conflicts = run(409)
  const versions = conflicts.writes.map((write) => {
    assert.ok(write.verb === 'patch' && write.patch.type === 'strategic')
    return (write.patch.value as Node).metadata?.resourceVersion
  })
  assert.deepEqual(versions, ['1', '2', '3', '4', '5'])
  const waits = conflicts.effects.flatMap((e) => (e.effect === 'wait' ? [e.waitMs] : []))
  assert.deepEqual(waits, [100, 100, 100, 100])
  assert.ok(conflicts.result !== undefined)
  assert.equal(run(403).writes.length, 1)
})
