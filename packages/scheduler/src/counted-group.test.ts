import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { pod } from '@gyropilot/api/testing'
import { NodeInfo } from './node-info.ts'
import { countedGroup, selectedGroup } from './counted-group.ts'
import type { CountedGroup } from './counted-group.ts'

const inGroup = (name: string, app: string, more: Partial<Pod['metadata']> = {}): Pod => {
  const made = pod({ name, labels: { app } })
  return { ...made, metadata: { ...made.metadata, ...more } }
}
const web = selectedGroup(inGroup('x', 'web'), { matchLabels: { app: 'web' } })

test('pods come, change and go: the count is what counting anew says', () => {
  const info = new NodeInfo('n')
  const one = inGroup('one', 'web')
  assert.equal(info.countOf(web), 0)
  info.addPod(one)
  info.addPod(inGroup('two', 'web'))
  info.addPod(inGroup('three', 'db'))
  assert.equal(info.countOf(web), 2)
  info.addPod(inGroup('three', 'web'))
  assert.equal(info.countOf(web), 3)
  info.addPod(inGroup('two', 'db'))
  assert.equal(info.countOf(web), 2)
  info.addPod(inGroup('one', 'web', { deletionTimestamp: '2026-01-01T00:00:00Z' }))
  assert.equal(info.countOf(web), 1)
  info.removePod(one.metadata!.uid!)
  assert.equal(info.countOf(web), 1)
  info.removePod(inGroup('three', 'web').metadata!.uid!)
  assert.equal(info.countOf(web), 0)
})

test('pods of other namespaces are no part of a group, nor is a group of another namespace the same', () => {
  const info = new NodeInfo('n')
  info.addPod(inGroup('one', 'web'))
  info.addPod(inGroup('two', 'web', { namespace: 'other', uid: 'other' }))
  const others = selectedGroup(inGroup('x', 'web', { namespace: 'other' }), {
    matchLabels: { app: 'web' },
  })
  assert.deepEqual([info.countOf(web), info.countOf(others)], [1, 1])
})

test('a node with other pods than the node has counts for itself', () => {
  const info = new NodeInfo('n')
  const one = inGroup('one', 'web')
  info.addPod(one)
  assert.equal(info.countOf(web), 1)
  assert.equal(info.without(new Set([one.metadata!.uid!])).countOf(web), 0)
  assert.equal(info.with([inGroup('two', 'web')]).countOf(web), 2)
  assert.equal(info.countOf(web), 1)
})

test('a node whose pods stay the same is counted once, however often it is asked', () => {
  const info = new NodeInfo('n')
  for (let i = 0; i < 50; i++) info.addPod(inGroup(`p${i}`, 'web'))
  let looks = 0
  const group: CountedGroup = countedGroup('default', 'all', () => {
    looks++
    return true
  })
  for (let i = 0; i < 1000; i++) assert.equal(info.countOf(group), 50)
  assert.equal(looks, 50)
  const more = inGroup('more', 'web')
  info.addPod(more)
  assert.deepEqual([info.countOf(group), looks], [51, 51])
  info.addPod({ ...more, status: { phase: 'Running' } })
  assert.deepEqual([info.countOf(group), looks], [51, 51])
})

test('groups beyond those that are kept are counted again, and right', () => {
  const info = new NodeInfo('n')
  info.addPod(inGroup('one', 'web'))
  const groups = Array.from({ length: 200 }, (_, i) =>
    selectedGroup(inGroup('x', 'web'), { matchLabels: { app: i % 2 === 0 ? 'web' : `a${i}` } }),
  )
  for (const round of [1, 2])
    assert.deepEqual(
      groups.map((group) => info.countOf(group)),
      groups.map((_, i) => (i % 2 === 0 ? round : 0)),
      String(info.addPod(inGroup(`more${round}`, 'web'))),
    )
})
