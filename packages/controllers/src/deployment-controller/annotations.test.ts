import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  annotationsAfterRollback,
  appendedHistory,
  desiredReplicasOf,
  highestRevision,
  previousRevision,
  recordedMaxReplicasOf,
  revisionOf,
  rollbackRevisionOf,
  synchronizedAnnotations,
} from './annotations.ts'
import { deployment, owned } from './fixtures.ts'

const REVISION = 'deployment.kubernetes.io/revision'
const HISTORY = 'deployment.kubernetes.io/revision-history'
const web = deployment()
const annotated = (annotations: Record<string, string>) => deployment({ metadata: { annotations } })

test('annotations of the Deployment are copied, except those that stay with their object; others are not removed', () => {
  const from = annotated({
    note: 'x',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    [REVISION]: '7',
    [HISTORY]: '1',
    'deployment.kubernetes.io/desired-replicas': '1',
    'deployment.kubernetes.io/max-replicas': '1',
    'deprecated.deployment.rollback.to': '1',
  })
  assert.deepEqual(synchronizedAnnotations(from, { own: 'y' }, 1n), {
    own: 'y',
    note: 'x',
    [REVISION]: '1',
  })
})

test('nothing to change gives the same object', () => {
  const current = { [REVISION]: '3', note: 'x' }
  assert.equal(synchronizedAnnotations(annotated({ note: 'x' }), current, 3n), current)
})

test('the revision is raised only, never lowered on the ReplicaSet', () => {
  const current = { [REVISION]: '5' }
  assert.equal(synchronizedAnnotations(web, current, 3n), current)
})

test('a raised revision leaves the old one in the history', () => {
  assert.deepEqual(synchronizedAnnotations(web, { [REVISION]: '1' }, 3n), {
    [REVISION]: '3',
    [HISTORY]: '1',
  })
  assert.deepEqual(synchronizedAnnotations(web, { [REVISION]: '3', [HISTORY]: '1' }, 5n), {
    [REVISION]: '5',
    [HISTORY]: '1,3',
  })
})

test('A non-integer existing annotation stops the whole step (no change)', () => {
  const current = { [REVISION]: 'x' }
  assert.equal(synchronizedAnnotations(annotated({ note: 'x' }), current, 3n), current)
})

test('an empty revision counts as 0 and is kept in the history as any other', () => {
  assert.deepEqual(synchronizedAnnotations(web, { [REVISION]: '' }, 1n), {
    [REVISION]: '1',
    [HISTORY]: '',
  })
  const adopted = { [REVISION]: '', [HISTORY]: '1,2' }
  assert.deepEqual(synchronizedAnnotations(web, adopted, 3n), {
    [REVISION]: '3',
    [HISTORY]: '1,2,',
  })
})

test('a changed annotation is copied though the others are the same', () => {
  const current = { [REVISION]: '3', note: 'x' }
  assert.deepEqual(synchronizedAnnotations(annotated({ note: 'y' }), current, 3n), {
    [REVISION]: '3',
    note: 'y',
  })
})

test('the history has at most 2000 characters, the oldest dropped first', () => {
  const long = Array.from({ length: 400 }, (_, index) => String(1000 + index)).join(',')
  assert.equal(long.length, 1999)
  const appended = appendedHistory(long, '9999')
  assert.ok(appended.length <= 2000)
  assert.ok(appended.startsWith('1001,') && appended.endsWith(',9999'))
  assert.equal(appendedHistory('1', '2'.repeat(2001)), '1')
  assert.equal(appendedHistory('1', '2'.repeat(2000)), '2'.repeat(2000))
  const fits = '1'.repeat(1995)
  assert.equal(appendedHistory(fits, '9999'), `${fits},9999`)
})

test('a history that begins with a comma is none', () => {
  assert.equal(appendedHistory(',5', '6'), '6')
  assert.equal(appendedHistory('5,', '6'), '5,,6')
})

const revised = (...revisions: readonly string[]) =>
  revisions.map((revision, index) => owned(web, { name: `rs${index}`, revision }))

test('the highest revision, wherever it stands; 0 without any', () => {
  assert.equal(highestRevision(revised('1', '4', 'x', '3')), 4n)
  assert.equal(highestRevision([]), 0n)
})

test('a ReplicaSet without a revision, or with one that is no number, counts as 0', () => {
  for (const replicaSet of [owned(web, {}), owned(web, { revision: 'x' })]) {
    assert.equal(highestRevision([replicaSet]), 0n)
    assert.equal(previousRevision([...revised('4'), replicaSet]), 0n)
  }
  assert.equal(revisionOf(owned(web, {})), 0n)
})

test('revision 0 means the second highest revision', () => {
  assert.equal(previousRevision(revised('4', '1', 'x', '3')), 3n)
  assert.equal(previousRevision(revised('4', '3', '1')), 3n)
  assert.equal(previousRevision([owned(web, { revision: '1' })]), 0n)
})

test('a revision is an int64: no digit of it is lost', () => {
  const [former, next] = ['3546343826724305832', '3546343826724305833']
  const adopted = owned(web, { revision: former })
  assert.equal(highestRevision([adopted]) + 1n, BigInt(next))
  assert.deepEqual(synchronizedAnnotations(web, { [REVISION]: former }, BigInt(next)), {
    [REVISION]: next,
    [HISTORY]: former,
  })
  assert.equal(revisionOf(owned(web, { revision: '9223372036854775808' })), undefined)
})

test('a recorded size is digits alone, at most MaxInt32', () => {
  const recorded = (text: string) =>
    desiredReplicasOf(
      owned(web, { annotations: { 'deployment.kubernetes.io/desired-replicas': text } }),
    )
  assert.deepEqual(['0', '13', '2147483647', '2147483648', '-1', '+1', ''].map(recorded), [
    0,
    13,
    2_147_483_647,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('sizes and the rollback request are integers or nothing', () => {
  assert.equal(
    recordedMaxReplicasOf(
      owned(web, { annotations: { 'deployment.kubernetes.io/max-replicas': '20' } }),
    ),
    20,
  )
  assert.equal(
    recordedMaxReplicasOf(
      owned(web, { annotations: { 'deployment.kubernetes.io/max-replicas': '20x' } }),
    ),
    undefined,
  )
  assert.equal(rollbackRevisionOf(annotated({ 'deprecated.deployment.rollback.to': '0' })), 0n)
  const asked = (text: string) =>
    rollbackRevisionOf(annotated({ 'deprecated.deployment.rollback.to': text }))
  assert.deepEqual(['7', '+7', '-7'].map(asked), [7n, 7n, -7n])
  for (const text of ['x', 'x7', '7x', '', '+']) assert.equal(asked(text), undefined)
  assert.equal(rollbackRevisionOf(web), undefined)
})

test('a rollback takes the annotations of the target and keeps those that never travel', () => {
  const from = annotated({
    note: 'new',
    onlyHere: 'y',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    [REVISION]: '2',
  })
  const target = owned(web, { revision: '1', annotations: { note: 'old' } })
  assert.deepEqual(annotationsAfterRollback(from, target), {
    note: 'old',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    [REVISION]: '2',
  })
})
